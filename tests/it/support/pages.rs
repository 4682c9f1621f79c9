//! The three pages on which size and speed are counted: a form of 20 fields, 1,500 nodes with 200 links, and 20,000
//! nodes with 3,000 links. `more` is a button that counts in `told`, for whoever needs something to press.

/// What the button says.
pub(crate) const BUTTON: &str = "Show one more";

fn page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Bench</title><body><h1>Bench</h1>\
         <p><button type=button id=more>{BUTTON}</button> <output id=told>shown 0</output></p>{body}\
         <script>let n = 0; more.onclick = () => {{ told.value = 'shown ' + (++n); }};</script>"
    )
}

/// Twenty fields of the usual kinds.
pub(crate) fn form() -> String {
    let kinds = ["text", "email", "tel", "number", "password"];
    let fields: String = (0..20)
        .map(|n| {
            let kind = kinds[n % kinds.len()];
            format!("<p><label>Field {n} <input type={kind} name=f{n}></label></p>")
        })
        .collect();
    page(&format!(
        "<form><fieldset style='columns:2'><legend>Your details</legend>{fields}</fieldset></form>"
    ))
}

/// About 1,500 nodes, 200 of them links: articles in sections.
pub(crate) fn articles() -> String {
    let sections: String = (0..10)
        .map(|part| {
            let items: String = (0..20)
                .map(|n| {
                    format!(
                        "<li><a href='/part/{part}/{n}'>Article {n} of part {part}</a> <span>by <em>somebody</em></span> <small>{n} comments</small></li>"
                    )
                })
                .collect();
            let words = "Words and more words. ".repeat(8);
            format!("<section><h2>Part {part}</h2><ul>{items}</ul><p>{words}</p></section>")
        })
        .collect();
    page(&sections)
}

/// About 20,000 nodes, 3,000 of them links: a table of orders.
pub(crate) fn orders() -> String {
    let ways: String = (0..140)
        .map(|n| format!("<a href='/way/{n}'>Way {n}</a> "))
        .collect();
    let rows: String = (0..2_860)
        .map(|n| {
            format!(
                "<tr><td>{n}</td><td><a href='/order/{n}'>Order {n}</a></td><td>Customer {}</td><td>{}.00 €</td><td><em>paid</em></td></tr>",
                n % 77,
                n * 7 % 1_000
            )
        })
        .collect();
    page(&format!(
        "<nav>{ways}</nav><h2>Orders</h2><table><tr><th>No</th><th>Order</th><th>Customer</th><th>Amount</th><th>State</th></tr>{rows}</table>"
    ))
}
