//! The one message that carries context: metadata only, never prose.
