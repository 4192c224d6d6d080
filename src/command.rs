//! Every command of the interface: name, sentence, default keys. The palette, help and `[keys]` come from this one table.
//!
//! Words only: what a command does is the interface's work, and what a key event is, the keymap's. A name is
//! written in an author's `config.toml`, so it is never changed once released.

/// Something that the author can ask of the interface, by key or from the palette.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name in `[keys]` and in the palette: lowercase words joined by hyphens.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Where its keys are heard.
    pub context: Context,
    /// Its default keys, most convenient first; empty for a command that only the palette runs.
    pub keys: &'static [&'static str],
}

impl Command {
    /// Whether it moves the cursor in a text. With Shift, each key of such a command extends the selection instead.
    pub fn moves(&self) -> bool {
        self.name.starts_with("move-")
    }
}

/// Where a key is heard: the innermost context first, then its [`parent`](Context::parent), up to [`Context::Global`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// Everywhere.
    Global,
    /// The manuscript's editor.
    Manuscript,
    /// The chat's input.
    Chat,
    /// Walking through the rows of the conversation, above the input.
    Conversation,
    /// The Codex pane, while no filter is typed.
    Codex,
    /// A proposal's differences.
    Diff,
    /// A list with a filter: the palette, a chooser, the Codex while its filter is typed.
    List,
    /// The relationships of an entry.
    Relationships,
    /// The places of a name that is changed.
    Rename,
    /// The list of all conversations.
    Sessions,
}

impl Context {
    /// All contexts, in the order in which help shows them.
    pub const ALL: [Self; 10] = [
        Self::Global,
        Self::Manuscript,
        Self::Chat,
        Self::Conversation,
        Self::Codex,
        Self::Diff,
        Self::List,
        Self::Relationships,
        Self::Rename,
        Self::Sessions,
    ];

    /// Returns where a key is looked for next; `None` at the end.
    pub fn parent(self) -> Option<Self> {
        match self {
            Self::Global => None,
            Self::Conversation => Some(Self::Chat),
            Self::Codex | Self::Relationships | Self::Rename | Self::Sessions => Some(Self::List),
            Self::Manuscript | Self::Chat | Self::Diff | Self::List => Some(Self::Global),
        }
    }

    /// Whether a plain letter is text there, so that it can't be a command.
    pub fn takes_text(self) -> bool {
        matches!(self, Self::Manuscript | Self::Chat | Self::List | Self::Sessions)
    }

    /// Returns its name for help and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "everywhere",
            Self::Manuscript => "manuscript",
            Self::Chat => "chat",
            Self::Conversation => "conversation",
            Self::Codex => "Codex",
            Self::Diff => "proposal",
            Self::List => "list",
            Self::Relationships => "relationships",
            Self::Rename => "renaming",
            Self::Sessions => "conversations",
        }
    }
}

/// Returns the command of that name.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|c| c.name == name)
}

const fn command(
    context: Context,
    name: &'static str,
    keys: &'static [&'static str],
    about: &'static str,
) -> Command {
    Command { name, about, context, keys }
}

/// All commands, in the order in which help and the palette show them.
pub const COMMANDS: &[Command] = &{
    use Context::{
        Chat, Codex, Conversation, Diff, Global, List, Manuscript, Relationships, Rename, Sessions,
    };
    [
        // Finding one's way.
        command(Global, "help", &["f1", "?"], "Help for the focused pane"),
        command(Global, "palette", &["ctrl-p"], "Find a command, chapter, entry, persona, session or theme"),
        command(Global, "focus-manuscript", &["f2", "alt-1"], "Go to the manuscript"),
        command(Global, "focus-chat", &["f3", "alt-2"], "Go to the chat"),
        command(Global, "focus-codex", &["f4", "alt-3"], "Go to the Codex"),
        command(Global, "next-pane", &["f6"], "Go to the next pane"),
        command(Global, "focus-mode", &["ctrl-e", "f11"], "Show the manuscript alone"),
        command(Global, "new-chapter", &[], "New chapter after the last one"),
        command(Global, "go-to", &["ctrl-g"], "Go to a chapter or line"),
        command(Global, "cancel", &["esc"], "Close what is on top, leave a mode, or stop the running turn"),
        // The document.
        command(Global, "save", &["ctrl-s"], "Save"),
        command(Global, "quit", &["ctrl-q"], "Quit; asks where something is unsaved"),
        command(Global, "undo", &["ctrl-z"], "Undo"),
        command(Global, "redo", &["ctrl-y"], "Redo"),
        command(Global, "cut", &["ctrl-x"], "Cut the selection"),
        command(Global, "copy", &["ctrl-c"], "Copy the selection"),
        command(Global, "paste", &["ctrl-v"], "Paste"),
        command(Global, "select-all", &["ctrl-a"], "Select everything"),
        command(Global, "find", &["ctrl-f"], "Find and replace"),
        command(Global, "search", &["alt-s"], "Search the whole book: Codex, notes and manuscript"),
        // The conversation, from anywhere.
        command(Global, "ask-about-selection", &["ctrl-k"], "Ask about the selection"),
        command(Global, "choose-persona", &["ctrl-r"], "Choose the board member"),
        command(Global, "toggle-tool-rows", &["ctrl-t"], "Show or hide detailed tool rows"),
        command(Global, "peek", &["ctrl-o"], "See exactly what will be sent"),
        command(Global, "next-proposal", &["ctrl-d"], "Open the next pending proposal"),
        command(Global, "list-proposals", &[], "List all proposals, to look at them again or undo them"),
        command(Global, "next-quote", &["ctrl-l"], "Show the next located quote of the last answer"),
        command(Global, "ask-offline", &["alt-o"], "Ask the offline reader instead, this once"),
        command(Global, "new-conversation", &[], "Start a new conversation"),
        command(Global, "conversations", &["alt-c"], "All conversations: go on, name, fork, export, delete"),
        command(Global, "search-conversations", &[], "Search what was said in all conversations"),
        command(Global, "restore-conversation", &[], "Bring a deleted conversation back"),
        // The program.
        command(Global, "connect-provider", &[], "Connect a provider: server, model and key"),
        command(Global, "choose-model", &[], "Choose the model that answers"),
        command(Global, "theme-next", &[], "Next theme"),
        command(Global, "toggle-tier-status", &[], "Show or hide the tier in the status row"),
        command(Global, "toggle-peek-hint", &[], "Show or hide the peek key in the hints"),
        command(Global, "toggle-mouse", &[], "Leave the mouse to the terminal, or take it back"),
        command(Global, "keep-from-ai", &[], "Keep the open document from AI, or let AI read it again"),
        command(Global, "provenance", &[], "Provenance: what AI did, and what left this machine"),
        command(Global, "read-again", &[], "Read the book again: files that others changed or added"),
        command(Global, "suspend", &[], "Suspend to the shell; `fg` comes back"),
        // The manuscript.
        command(Manuscript, "name-card", &["alt-i"], "Card of the name under the cursor"),
        command(Manuscript, "selection-mode", &["ctrl-space"], "Start or end a selection without Shift"),
        command(Manuscript, "toggle-typewriter", &[], "Keep the cursor's line in the middle"),
        command(Manuscript, "move-left", &["left"], "One character left"),
        command(Manuscript, "move-right", &["right"], "One character right"),
        command(Manuscript, "move-up", &["up"], "One row up"),
        command(Manuscript, "move-down", &["down"], "One row down"),
        command(Manuscript, "move-word-left", &["ctrl-left", "alt-left", "alt-b"], "One word left"),
        command(Manuscript, "move-word-right", &["ctrl-right", "alt-right", "alt-f"], "One word right"),
        command(Manuscript, "move-row-start", &["home"], "To the start of the row"),
        command(Manuscript, "move-row-end", &["end"], "To the end of the row"),
        command(Manuscript, "move-paragraph-up", &["ctrl-up", "alt-up"], "One paragraph up"),
        command(Manuscript, "move-paragraph-down", &["ctrl-down", "alt-down"], "One paragraph down"),
        command(Manuscript, "move-page-up", &["pgup"], "One page up"),
        command(Manuscript, "move-page-down", &["pgdn"], "One page down"),
        command(Manuscript, "move-text-start", &["ctrl-home"], "To the start of the text"),
        command(Manuscript, "move-text-end", &["ctrl-end"], "To the end of the text"),
        // The chat's input, and the conversation above it.
        command(Chat, "send", &["enter"], "Send the question"),
        command(Chat, "new-line", &["ctrl-j", "alt-enter", "shift-enter"], "New line in the question"),
        command(Chat, "scroll-up", &["pgup"], "Scroll the conversation up"),
        command(Chat, "scroll-down", &["pgdn"], "Scroll the conversation down; at its end it follows again"),
        command(Chat, "next-row", &["tab"], "Next row, card, quote or message"),
        command(Chat, "previous-row", &["shift-tab"], "Previous row, card, quote or message"),
        command(Conversation, "open-row", &["enter"], "Open the row, card or quote"),
        command(Conversation, "copy-row", &["y"], "Copy the message or row"),
        command(Conversation, "edit-last", &["e"], "Edit the last question and send it again"),
        command(Conversation, "retry", &["t"], "Ask the last question again"),
        command(Conversation, "fork-here", &["f"], "New conversation that goes on from this message"),
        // The Codex.
        command(Codex, "filter", &["/"], "Filter the entries"),
        command(Codex, "new-entry", &["n"], "New entry from a template"),
        command(Codex, "timeline", &["t"], "Show the story in the order of its time"),
        command(Codex, "relationships", &["g"], "Who and what belongs to this entry, as a graph"),
        command(Codex, "rename", &["r"], "Rename it in the whole book; shows every place first"),
        // A proposal.
        command(Diff, "accept-proposal", &["a"], "Accept the chosen changes"),
        command(Diff, "reject-proposal", &["r"], "Reject, with a word why if you like"),
        command(Diff, "edit-proposal", &["e"], "Edit the proposed text first"),
        command(Diff, "toggle-hunk", &["space"], "Take or leave this change"),
        command(Diff, "toggle-file", &["f"], "Take or leave all changes of this file"),
        command(Diff, "keep-mine", &["1"], "Where both have changed the same words: keep yours"),
        command(Diff, "take-proposed", &["2"], "Where both have changed the same words: take theirs"),
        command(Diff, "keep-both", &["3"], "Where both have changed the same words: keep both"),
        command(Diff, "show-evidence", &["i"], "What led to this proposal"),
        command(Diff, "next-hunk", &["down", "j"], "Next change"),
        command(Diff, "previous-hunk", &["up", "k"], "Previous change"),
        command(Diff, "diff-page-up", &["pgup"], "One page up"),
        command(Diff, "diff-page-down", &["pgdn"], "One page down"),
        command(Diff, "diff-start", &["home", "ctrl-home"], "To the start"),
        command(Diff, "diff-end", &["end", "ctrl-end"], "To the end"),
        command(Diff, "next-file", &["tab"], "Next file"),
        command(Diff, "previous-file", &["shift-tab"], "Previous file"),
        command(Diff, "following-proposal", &["n"], "Next proposal"),
        command(Diff, "preceding-proposal", &["p"], "Previous proposal"),
        command(Diff, "side-by-side", &["s"], "Side by side, or in one column"),
        command(Diff, "whole-file", &["w"], "Whole file, or the changes alone"),
        command(Diff, "undo-proposal", &["u"], "Undo after accepting"),
        command(
            Diff,
            "accept-all-seen",
            &["shift-a"],
            "Accept every pending proposal that was read to its end",
        ),
        // Lists.
        command(List, "list-choose", &["enter"], "Open or choose"),
        command(List, "list-up", &["up"], "One up"),
        command(List, "list-down", &["down"], "One down"),
        command(List, "list-page-up", &["pgup"], "One page up"),
        command(List, "list-page-down", &["pgdn"], "One page down"),
        command(List, "list-first", &["ctrl-home"], "To the first"),
        command(List, "list-last", &["ctrl-end"], "To the last"),
        // The relationships of an entry.
        command(Relationships, "open-neighbour", &["o"], "Open the file"),
        command(Relationships, "previous-centre", &["backspace"], "Back to the one before"),
        // The places of a name.
        command(Rename, "toggle-place", &["space"], "Take or leave this place"),
        command(Rename, "next-doubt", &["n"], "Next place that is not chosen"),
        command(Rename, "toggle-places-of-file", &["f"], "Take or leave all places of this file"),
        command(Rename, "exempt-place", &["x"], "Leave this place for ever: it means somebody else"),
        command(Rename, "apply-rename", &["a"], "Rename all chosen places"),
        command(Rename, "undo-rename", &["u"], "Undo after renaming"),
        // All conversations.
        command(Sessions, "search-instead", &["tab"], "Search what was said, or the names again"),
        command(Sessions, "rename-conversation", &["ctrl-r"], "Give it a name"),
        command(Sessions, "fork-conversation", &["ctrl-f"], "New conversation that goes on from it"),
        command(Sessions, "export-conversation", &["ctrl-e"], "Write it to a file, as Markdown or JSON"),
        command(Sessions, "delete-conversation", &["ctrl-d"], "Delete it; asks first"),
    ]
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_is_unique_and_made_of_lowercase_words() {
        let mut seen = BTreeSet::new();
        for command in COMMANDS {
            assert!(seen.insert(command.name), "two commands are called {}", command.name);
            let words = command.name.split('-');
            assert!(
                words.clone().all(|w| !w.is_empty() && w.chars().all(|c| c.is_ascii_lowercase())),
                "{}",
                command.name
            );
            assert_eq!(find(command.name), Some(command));
        }
    }

    #[test]
    fn every_sentence_can_stand_in_a_row_of_help() {
        for command in COMMANDS {
            let about = command.about;
            assert!(about.starts_with(char::is_uppercase), "{about}");
            assert!(!about.ends_with('.') && !about.contains('\u{2014}'), "{about}");
            assert!(about.chars().count() <= 62, "{about}");
        }
    }

    #[test]
    fn every_context_leads_to_the_commands_of_everywhere() {
        for context in Context::ALL {
            let steps = std::iter::successors(Some(context), |c| c.parent()).take(9).collect::<Vec<_>>();
            assert_eq!(steps.last(), Some(&Context::Global));
            assert!(COMMANDS.iter().any(|c| c.context == context), "{} has no commands", context.as_str());
        }
    }
}
