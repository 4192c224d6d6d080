//! What a refusal says of sizes: a conversation that is too long, an answer that is allowed to be too long, more than an account may send in
//! a minute. All of it is in a server's words alone, so that it is read from them; what is not understood is none of these.

use std::sync::LazyLock;

use regex::Regex;

use super::Refusal;

/// Words for a conversation that a model can't hold.
const TOO_LONG: [&str; 22] = [
    // OpenAI, Groq, vLLM, OpenRouter, Mistral, DeepSeek
    "context_length_exceeded",
    "maximum context length",
    "exceeds the context window",
    "reduce the length of the messages",
    // newer vLLM
    "context length is only",
    // SGLang
    "longer than the model's context length",
    // Hugging Face
    "`max_new_tokens` must be",
    "`inputs` must have less than",
    // Together
    "exceeds the maximum allowed input length",
    // vLLM, while it schedules
    "longer than the maximum model length",
    "too long to fit into the model",
    // llama.cpp
    "exceed_context_size_error",
    "exceeds the available context size",
    // LM Studio
    "greater than the context length",
    "context the overflows",
    // Anthropic
    "prompt is too long",
    "exceed context limit",
    // xAI
    "maximum prompt length is",
    // Google, Bedrock
    "exceeds the maximum number of tokens allowed",
    "input is too long",
    // Other names of OpenAI's code, as gateways have them
    "context_window_exceeded",
    "context length exceeded",
];

/// The names that a limit of an answer goes by.
const LIMITS: [&str; 4] = ["max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict"];

/// Words for a value that is above what is allowed.
const TOO_LARGE: [&str; 9] = [
    "too large",
    "too high",
    "too big",
    "exceed",
    "maximum value",
    "maximum allowed",
    "at most",
    "less than or equal",
    "valid range",
];

#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
fn compiled<const N: usize>(patterns: [&str; N]) -> [Regex; N] {
    patterns.map(|pattern| Regex::new(pattern).expect("a valid pattern"))
}

/// What fits in all, with what the question takes of it (`taken`), or what was asked for with the answer's limit in it (`asked`).
static OF_ALL: LazyLock<[Regex; 7]> = LazyLock::new(|| {
    compiled([
        // vLLM: "maximum context length is 4096 tokens and your request has 3000 input tokens"
        r"maximum context length is (?<whole>\d{1,9})\b.*?\b(?<taken>\d{1,9}) input tokens",
        // OpenAI, older vLLM: "maximum context length is 4096 tokens. However, you requested 4200 tokens (104 in the messages, .."
        r"maximum context length is (?<whole>\d{1,9})\b.*?\brequested (?:about )?(?<asked>\d{1,9}) tokens",
        // newer vLLM: "You passed 3001 input tokens and requested 4096 output tokens. However, the model's context length is only 4096 tokens"
        r"passed (?<taken>\d{1,9}) input tokens\b.*?\bcontext length is only (?<whole>\d{1,9})\b",
        // SGLang: "maximum context length of 4096 tokens. You requested a total of 7000 tokens: 3000 tokens from the input messages and .."
        r"maximum context length of (?<whole>\d{1,9})\b.*?\brequested a total of (?<asked>\d{1,9}) tokens",
        // Anthropic: "exceed context limit: 190000 + 20000 > 200000"
        r"context limit:\s+(?<taken>\d{1,9})\s*\+\s*\d{1,9}\s*>\s*(?<whole>\d{1,9})",
        // OpenAI and Groq, by the minute: "Limit 30000, Requested 43000"
        r"limit:? (?<whole>\d{1,9}), (?:used:? \d{1,9}, )?requested:? (?<asked>\d{1,9})",
        // Hugging Face: "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3000 `inputs` tokens"
        r"must be <= (?<whole>\d{1,9})\. given: (?<taken>\d{1,9}) `inputs`",
    ])
});

/// The longest answer that a model gives.
static OF_AN_ANSWER: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    compiled([
        // OpenAI: "This model supports at most 16384 completion tokens"
        r"at most (?<room>\d{1,9}) (?:completion|output) tokens",
        // Anthropic: "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens"
        r"\d > (?<room>\d{1,9}), which is the maximum",
        // DeepSeek: "the valid range of max_tokens is [1, 8192]"
        r"valid range of \S+ is \[\d+, ?(?<room>\d{1,9})\]",
        // OpenAI's Responses: "Expected a value <= 128000"; Groq: "must be less than or equal to `32768`"
        r"(?:<=|less than or equal to) `?(?<room>\d{1,9})",
    ])
});

impl Refusal {
    /// Whether the conversation is longer than the model can take, or than the account may send.
    pub fn is_too_long(&self) -> bool {
        match self.status {
            Some(413) => true,
            None | Some(400..=500) => {
                !self.is_quota() && (self.says(&TOO_LONG) || self.is_beyond_the_minute())
            }
            Some(_) => false,
        }
    }

    /// Whether one request alone is more than the account may send in a minute: OpenAI says so with 429, Groq with 413. A minute that is
    /// only used up is another matter, and over soon.
    pub fn is_beyond_the_minute(&self) -> bool {
        matches!(self.status, None | Some(400 | 413 | 429))
            && self.says(&["request too large"])
            && self.says(&["tokens per min", "must be reduced", "reduce your message size"])
    }

    /// Whether the limit of the answer is above what the server allows, or has room for.
    pub fn is_about_the_limit(&self) -> bool {
        let names = self.says(&LIMITS) || self.param.as_deref().is_some_and(|param| LIMITS.contains(&param));
        matches!(self.status, None | Some(400 | 422 | 500)) && names && self.says(&TOO_LARGE)
    }

    /// Returns how many tokens there are for an answer, where `sent` were asked for and that may be what is too much. Where the server does
    /// not say it, half of them are worth an attempt.
    pub fn room(&self, sent: u32) -> Option<u32> {
        let message = self.message.to_lowercase();
        if self.is_too_long() {
            for pattern in &*OF_ALL {
                let Some(found) = pattern.captures(&message) else { continue };
                let number = |name: &str| found.name(name)?.as_str().parse::<u32>().ok();
                let whole = number("whole")?;
                let room = match number("taken") {
                    Some(taken) => whole.saturating_sub(taken),
                    None => sent.saturating_sub(number("asked")?.saturating_sub(whole)),
                };
                // vLLM stops counting a question once it is too long: it has at least so many tokens.
                let is_vague = ["at least", "passed "].iter().any(|words| found[0].contains(words));
                return Some(if is_vague { room.min(sent / 2) } else { room });
            }
        }
        if !self.is_about_the_limit() {
            return None;
        }
        let told = OF_AN_ANSWER.iter().find_map(|pattern| pattern.captures(&message));
        told.map_or(Some(sent / 2), |found| found["room"].parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: u16, message: &str) -> Refusal {
        Refusal { status: Some(status), message: message.into(), ..Refusal::default() }
    }

    /// Refusals of servers, and the room that each leaves of 4096 tokens.
    const TOLD: [(u16, &str, bool, Option<u32>); 25] = [
        (
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 3000 input tokens (4096 > 4096 - 3000). (parameter=max_tokens, value=4096)",
            true,
            Some(1096),
        ),
        (
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 4096 output tokens and your prompt contains at least 1 input tokens, for a total of at least 4097 tokens.",
            true,
            Some(2048),
        ),
        (
            400,
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
            true,
            Some(0),
        ),
        (
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 9096 tokens (5000 in the messages, 4096 in the completion).",
            true,
            Some(3192),
        ),
        (
            400,
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            true,
            None,
        ),
        (
            500,
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            true,
            None,
        ),
        (
            400,
            "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
            true,
            None,
        ),
        (
            400,
            "input length and `max_tokens` exceed context limit: 198000 + 4096 > 200000, decrease input length or `max_tokens` and try again",
            true,
            Some(2000),
        ),
        (400, "prompt is too long: 203000 tokens > 200000 maximum", true, None),
        (
            400,
            "You passed 3001 input tokens and requested 4096 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 0 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=3001)",
            true,
            Some(1095),
        ),
        (
            400,
            "You passed 1 input tokens and requested 4096 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 0 tokens.",
            true,
            Some(2048),
        ),
        (
            400,
            "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 7096 tokens: 3000 tokens from the input messages and 4096 tokens for the completion.",
            true,
            Some(1096),
        ),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3000 `inputs` tokens and 4096 `max_new_tokens`",
            true,
            Some(1096),
        ),
        (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1200", true, None),
        (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens).", true, None),
        (
            400,
            "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
            true,
            None,
        ),
        (
            429,
            "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31000. The input or output tokens must be reduced in order to run successfully.",
            true,
            Some(3096),
        ),
        (
            429,
            "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.",
            false,
            None,
        ),
        (
            400,
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.",
            false,
            Some(2048),
        ),
        (
            400,
            "max_tokens: 4096 > 2500, which is the maximum allowed number of output tokens for claude-x",
            false,
            Some(2500),
        ),
        (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 1024]", false, Some(1024)),
        (
            400,
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 2000, but got 4096 instead.",
            false,
            Some(2000),
        ),
        (400, "`max_completion_tokens` must be less than or equal to `3000`", false, Some(3000)),
        (400, "max_tokens is too large", false, Some(2048)),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            false,
            None,
        ),
    ];

    #[test]
    fn what_is_too_long_is_read_from_the_words_of_every_server_and_what_room_is_left() {
        for (status, message, too_long, room) in TOLD {
            let refusal = said(status, message);
            assert_eq!((refusal.is_too_long(), refusal.room(4096)), (too_long, room), "{message}");
            let within = Refusal { status: None, ..refusal };
            assert_eq!(within.is_too_long(), too_long, "in a stream: {message}");
        }
    }

    #[test]
    fn what_no_server_would_count_is_no_room() {
        for message in [
            "maximum context length is 99999999999999999999 and your request has 1 input tokens",
            "max_tokens is too large: at most 99999999999999999999 completion tokens",
            "context limit: + > ",
        ] {
            assert!(said(400, message).room(4096).is_none_or(|room| room <= 2048), "{message}");
        }
        assert_eq!(said(400, "max_tokens is too large").room(0), Some(0));
    }
}
