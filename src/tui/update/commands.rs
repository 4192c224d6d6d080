//! Commands by name: what a key, the palette or a popup asks for.

use crate::domain::ids::BookPath;
use crate::proposal::Status;
use crate::workbench::provider::OFFLINE;

use super::super::app::App;
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::Notice;
use super::super::popups;
use super::super::theme::Theme;
use super::super::theme_of;
use super::{ask, chat, codex, documents, find, manuscript, private, relate, sessions};

/// Runs a command. One that makes no sense where the author is says so or does nothing.
pub(in super::super) fn run(app: &mut App, name: &str) -> Vec<Effect> {
    match name {
        "help" => {
            app.popups.push(popups::help::open(app));
            vec![]
        }
        "palette" => {
            app.popups.push(popups::palette::open(app));
            vec![]
        }
        "focus-manuscript" => focus(app, Pane::Manuscript),
        "focus-chat" => focus(app, Pane::Chat),
        "focus-codex" => focus(app, Pane::Codex),
        "next-pane" => next_pane(app),
        "focus-mode" => {
            app.look.focus_mode = !app.look.focus_mode;
            focus(app, Pane::Manuscript)
        }
        "toggle-typewriter" => {
            app.look.typewriter = !app.look.typewriter;
            let on = app.look.typewriter;
            for document in &mut app.documents {
                document.view.set_typewriter(on);
            }
            vec![]
        }
        "save" => documents::save_active(app),
        "quit" => quit(app),
        "read-again" => {
            app.tell(Notice::hint("Reading the book again."));
            vec![Effect::Refresh, Effect::ReadProposals]
        }
        "suspend" => vec![Effect::Suspend],
        "toggle-tool-rows" | "toggle-tier-status" | "toggle-peek-hint" | "toggle-mouse" => toggle(app, name),
        "theme-next" => {
            let names = theme_names(app);
            let here = names.iter().position(|n| n == app.theme.name()).unwrap_or(0);
            let next = names[(here + 1) % names.len()].clone();
            choose_theme(app, &next)
        }
        "choose-persona" => {
            app.popups.push(popups::board::open(app));
            vec![]
        }
        "ask-about-selection" => ask::about_selection(app),
        "peek" => ask::peek(app),
        "next-proposal" => next_proposal(app),
        "accept-all-seen" => super::judge::accept_all(app),
        "show-evidence" => super::judge::evidence(app),
        "list-proposals" => {
            app.popups.push(popups::proposals::open(app));
            vec![]
        }
        "next-quote" => chat::next_quote(app),
        "name-card" => manuscript::name_card(app),
        "connect-provider" => vec![Effect::ListProviders],
        "choose-model" if app.provider.0 == OFFLINE => {
            app.tell(Notice::hint("No model answers now: \"Connect a provider\" chooses one."));
            vec![]
        }
        "choose-model" => {
            app.tell(Notice::wait(format!("Asking {} for its models.", app.provider.0)));
            vec![Effect::ListModels]
        }
        "go-to" => {
            app.popups.push(popups::go_to::open(app));
            vec![]
        }
        "new-chapter" => {
            app.popups.push(popups::new_entry::chapter());
            vec![]
        }
        "find" => find::open(app),
        "search" => find::in_book(app),
        "send" | "new-line" | "new-conversation" | "ask-offline" | "retry" | "edit-last" | "fork-here"
        | "next-row" | "previous-row" | "open-row" | "copy-row" | "scroll-up" | "scroll-down" => {
            chat::run(app, name)
        }
        "conversations" => sessions::show(app, false),
        "search-conversations" => sessions::show(app, true),
        "restore-conversation" => vec![Effect::ListDeleted],
        "cancel" => super::on_escape(app),
        "timeline" => vec![Effect::Timeline],
        "provenance" => vec![Effect::Provenance],
        "keep-from-ai" => private::keep_from_ai(app),
        "filter" | "new-entry" => codex::run(app, name),
        "relationships" => relate::relationships(app),
        "rename" => relate::rename(app),
        _ if name.starts_with("list-") => codex::run(app, name),
        _ if app.focus == Pane::Chat && app.popups.is_empty() => chat::edit(app, name),
        _ => manuscript::run(app, name),
    }
}

/// Puts the keys of the author into a pane, and shows it where panes take turns.
pub(in super::super) fn focus(app: &mut App, pane: Pane) -> Vec<Effect> {
    app.focus = pane;
    if pane != Pane::Manuscript {
        app.side = pane;
        app.look.focus_mode = false;
    }
    vec![]
}

fn next_pane(app: &mut App) -> Vec<Effect> {
    let next = match app.focus {
        Pane::Manuscript => Pane::Chat,
        Pane::Chat => Pane::Codex,
        Pane::Codex => Pane::Manuscript,
    };
    focus(app, next)
}

fn quit(app: &mut App) -> Vec<Effect> {
    let unsaved: Vec<BookPath> =
        app.documents.iter().filter(|d| d.buffer.is_modified()).map(|d| d.path.clone()).collect();
    let edits: Vec<String> = super::judge::unkept(app).into_iter().map(|(entry, _)| entry).collect();
    if unsaved.is_empty() && edits.is_empty() {
        return vec![Effect::Quit];
    }
    app.popups.push(popups::confirm::quit(&unsaved, &edits));
    vec![]
}

fn toggle(app: &mut App, name: &str) -> Vec<Effect> {
    let look = &mut app.look;
    if name == "toggle-mouse" {
        look.mouse = !look.mouse;
        let on = look.mouse;
        app.tell(Notice::done(if on { "The mouse works here." } else { "The mouse is the terminal's own." }));
        return vec![Effect::Mouse(on)];
    }
    let (setting, on, words): (&'static [&'static str], bool, &str) = match name {
        "toggle-tool-rows" => {
            look.tool_rows = !look.tool_rows;
            (&["appearance", "tool_rows"], look.tool_rows, "Detailed tool rows")
        }
        "toggle-tier-status" => {
            look.tier_status = !look.tier_status;
            (&["appearance", "tier_status"], look.tier_status, "The tier in the status row")
        }
        _ => {
            look.peek_key = !look.peek_key;
            (&["appearance", "peek_key"], look.peek_key, "The peek key in the hints")
        }
    };
    app.tell(Notice::done(format!("{words}: {}.", if on { "shown" } else { "hidden" })));
    vec![Effect::Setting(setting, on.into())]
}

/// Lists the themes: the shipped ones, then the author's own.
pub(in super::super) fn theme_names(app: &App) -> Vec<String> {
    let shipped = Theme::shipped().into_iter().map(str::to_owned);
    shipped.chain(app.own_themes.iter().map(|(name, _)| name.clone())).collect()
}

/// Changes the theme, and keeps the choice.
pub(in super::super) fn choose_theme(app: &mut App, name: &str) -> Vec<Effect> {
    match theme_of(&app.own_themes, name, app.depth) {
        Ok(theme) => {
            app.theme = theme;
            app.tell(Notice::done(format!("theme: {name}")));
            vec![Effect::Setting(&["appearance", "theme"], name.into())]
        }
        Err(why) => {
            app.tell(Notice::problem(why.to_string()));
            vec![]
        }
    }
}

/// Opens the oldest pending proposal, else the newest one that was applied.
fn next_proposal(app: &mut App) -> Vec<Effect> {
    let with = |status: Status| {
        move |app: &App, id: &crate::domain::ids::ProposalId| {
            app.proposals.get(id).is_some_and(|q| q.status == status)
        }
    };
    let pending = app.queue.iter().find(|id| with(Status::Pending)(app, id) || with(Status::Stale)(app, id));
    let chosen =
        pending.or_else(|| app.queue.iter().rev().find(|id| with(Status::Applied)(app, id))).cloned();
    let Some(id) = chosen else {
        app.tell(Notice::hint("There is no proposal to review. Ask a board member for a change."));
        return vec![];
    };
    super::judge::review(app, &id)
}
