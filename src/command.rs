//! Every command of the interface: name, sentence, default keys. The palette, help and `[keys]` come from this one table.
