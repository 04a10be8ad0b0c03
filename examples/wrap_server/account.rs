//! The server that was there before: an account on plain rmcp. It knows nothing of user interfaces.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{ServerHandler, model::*, tool, tool_handler, tool_router};
use serde_json::{Value, json};

/// What one call costs, whoever makes it.
const PRICE_CENTS: i64 = 5;
/// So many unpaid cents make a settlement: five calls.
const SETTLED_CENTS: i64 = 25;
/// The history at start: two weeks of calls, the last of them today's.
const CALLS: [i64; 14] = [31, 44, 52, 47, 18, 9, 38, 56, 61, 49, 64, 22, 12, 27];

/// An account that pays for the calls of its tools, the same one for all sessions.
#[derive(Clone)]
pub(crate) struct Account(Arc<Mutex<Ledger>>);

struct Ledger {
    balance_cents: i64,
    unpaid_cents: i64,
    calls: [i64; 14],
    settlements: Vec<Value>,
}

#[tool_router(vis = "pub(crate)")]
impl Account {
    pub(crate) fn new() -> Self {
        let settlements = [("2026-11-16", 9_140), ("2026-11-23", 1_195), ("2026-11-30", 1_455)];
        Self(Arc::new(Mutex::new(Ledger {
            balance_cents: 12_050,
            unpaid_cents: 0,
            calls: CALLS,
            settlements: settlements.map(|(date, cents)| json!({ "date": date, "cents": cents })).to_vec(),
        })))
    }

    #[tool(description = "What is on the account.")]
    async fn get_balance(&self) -> CallToolResult {
        self.charge(|ledger| (format!("Balance: {} EUR", euros(ledger.balance_cents)), ledger.balance()))
    }

    #[tool(description = "What was spent on each of the last 14 days.")]
    async fn usage_by_day(&self) -> CallToolResult {
        self.charge(|ledger| {
            let total = euros(ledger.calls.iter().sum::<i64>() * PRICE_CENTS);
            let today = euros(ledger.calls[13] * PRICE_CENTS);
            (format!("Spent in 14 days: {total} EUR, today: {today} EUR"), ledger.usage())
        })
    }

    #[tool(description = "What was paid, and when.")]
    async fn settlement_history(&self) -> CallToolResult {
        self.charge(|ledger| (format!("{} settlements", ledger.settlements.len()), ledger.settled()))
    }

    #[tool(description = "Balance, usage and settlements in one: much to read, made for screens.")]
    async fn account_overview(&self) -> CallToolResult {
        self.charge(|ledger| {
            let parts = [ledger.balance(), ledger.usage(), ledger.settled()];
            let all: JsonObject = parts.into_iter().flatten().collect();
            (json!(all).to_string(), all)
        })
    }

    /// Books the call, then lets `tell` say in words and in data what the ledger has.
    fn charge(&self, tell: impl FnOnce(&Ledger) -> (String, JsonObject)) -> CallToolResult {
        let mut ledger = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.balance_cents -= PRICE_CENTS;
        ledger.unpaid_cents += PRICE_CENTS;
        ledger.calls[13] += 1;
        if ledger.unpaid_cents >= SETTLED_CENTS {
            let cents = std::mem::take(&mut ledger.unpaid_cents);
            ledger.settlements.push(json!({ "date": "2026-11-30", "cents": cents }));
        }
        let (text, data) = tell(&ledger);
        let mut result = CallToolResult::structured(data.into());
        result.content = vec![ContentBlock::text(text)];
        result
    }
}

impl Ledger {
    fn balance(&self) -> JsonObject {
        object(json!({ "currency": "EUR", "balanceCents": self.balance_cents }))
    }

    fn usage(&self) -> JsonObject {
        let days = (17..).zip(self.calls);
        let days = days.map(
            |(day, calls)| json!({ "date": format!("2026-11-{day}"), "calls": calls, "cents": calls * PRICE_CENTS }),
        );
        object(json!({ "currency": "EUR", "days": days.collect::<Vec<_>>() }))
    }

    fn settled(&self) -> JsonObject {
        object(json!({ "currency": "EUR", "settlements": self.settlements }))
    }
}

fn euros(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[tool_handler]
impl ServerHandler for Account {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}
