//! shim
#[derive(Default)] pub struct Clipboard; pub enum Copied { System, Terminal(Vec<u8>) } pub struct Reader;
impl Clipboard { pub fn copy(&mut self, _: String) -> Copied { Copied::System } pub fn reader(&self) -> Reader { Reader } }
impl Reader { pub fn text(&self) -> Option<String> { None } }
