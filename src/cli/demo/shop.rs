//! The demo's shop: list, product, basket, delivery, payment.

use super::goods::{Delivery, Line, PRODUCTS, Product};
use super::pages::{self, Value, word};
use super::site::{Answer, Call, INITIALS, PERSON};
use super::state::Address;

impl Call<'_> {
    pub(super) fn shop(&self) -> Answer {
        match (self.post, self.path.as_str()) {
            (false, "/") => self.list(),
            (false, "/basket") => self.basket(),
            (true, "/basket") => self.add(),
            (true, "/basket/remove") => self.remove(),
            (false, "/checkout") => self.checkout(),
            (true, "/checkout") => self.deliver(),
            (false, "/payment") => self.payment(),
            (true, "/pay") => self.pay(),
            (false, "/thanks") => self.thanks(),
            (false, path) => match path.strip_prefix("/product/").and_then(Product::named) {
                Some(product) => self.product(product),
                None => Answer::NotFound,
            },
            (true, _) => Answer::NotFound,
        }
    }

    pub(super) fn shop_page(&self, title: &str, content: &str) -> String {
        let other = self.language.other();
        let path = if self.post { "/" } else { self.path.as_str() };
        let count = self.inside.told().basket.len().to_string();
        self.fill(
            pages::SHOP,
            vec![
                ("title", self.word(title).into()),
                ("content", Value::Html(content.to_owned())),
                ("other", format!("{}{path}", other.base()).into()),
                ("count", count.into()),
                ("who", PERSON.into()),
                ("initials", INITIALS.into()),
            ],
        )
    }

    fn list(&self) -> Answer {
        let asked = self.field("q").to_lowercase();
        let found = PRODUCTS.iter().filter(|product| {
            let text = format!("{}.text", product.id);
            let all = format!("{} {}", self.word(product.id), word(&text, self.language));
            all.to_lowercase().contains(&asked)
        });
        let items: String = found
            .map(|product| {
                self.fill(
                    pages::ITEM,
                    vec![
                        ("id", product.id.into()),
                        ("name", self.word(product.id).into()),
                        ("price", self.shown(product.price).into()),
                        ("tint", product.tint.into()),
                        ("picture", Value::Html(product.picture.to_owned())),
                    ],
                )
            })
            .collect();
        let items = if items.is_empty() {
            format!(
                "<p>{} “{}”.</p>",
                self.word("found.none"),
                pages::escape(self.field("q"))
            )
        } else {
            format!(r#"<ul class="grid">{items}</ul>"#)
        };
        let content = self.fill(
            pages::LIST,
            vec![("q", self.field("q").into()), ("items", Value::Html(items))],
        );
        Answer::Page(self.shop_page("list.title", &content))
    }

    fn product(&self, product: &'static Product) -> Answer {
        let sizes = if product.sizes {
            self.fill(pages::SIZES, vec![])
        } else {
            String::new()
        };
        let text = format!("{}.text", product.id);
        let content = self.fill(
            pages::PRODUCT,
            vec![
                ("id", product.id.into()),
                ("name", self.word(product.id).into()),
                ("price", self.shown(product.price).into()),
                ("text", word(&text, self.language).into()),
                ("tint", product.tint.into()),
                ("picture", Value::Html(product.picture.to_owned())),
                ("sizes", Value::Html(sizes)),
            ],
        );
        Answer::Page(self.shop_page(product.id, &content))
    }

    fn add(&self) -> Answer {
        let Some(product) = Product::named(self.field("product")) else {
            return Answer::NotFound;
        };
        let size = ["S", "M", "L"]
            .into_iter()
            .find(|size| size.eq_ignore_ascii_case(self.field("size")));
        let quantity = self.field("quantity").parse().unwrap_or(0);
        if product.sizes != size.is_some() || !(1..=9).contains(&quantity) {
            return self.to(&format!("/product/{}", product.id));
        }
        let mut told = self.inside.told();
        if told.basket.len() < 20 {
            told.basket.push(Line {
                product,
                size,
                quantity,
            });
            told.counters.baskets += 1;
        }
        self.to("/basket")
    }

    fn remove(&self) -> Answer {
        let mut told = self.inside.told();
        if let Ok(line) = self.field("line").parse::<usize>()
            && line < told.basket.len()
        {
            told.basket.remove(line);
        }
        self.to("/basket")
    }

    fn sum(&self) -> Value {
        let told = self.inside.told();
        Value::Html(self.fill(
            pages::SUM,
            vec![
                ("subtotal", self.shown(told.subtotal()).into()),
                ("delivery", self.shown(told.delivery.price()).into()),
                ("total", self.shown(told.total()).into()),
            ],
        ))
    }

    fn basket(&self) -> Answer {
        let basket = self.inside.told().basket.clone();
        if basket.is_empty() {
            let content = format!(
                r#"<h1>{}</h1><p>{}</p><p><a class="button" href="{}/">{}</a></p>"#,
                self.word("basket.title"),
                self.word("basket.empty"),
                self.language.base(),
                self.word("back"),
            );
            return Answer::Page(self.shop_page("basket.title", &content));
        }
        let lines: String = basket
            .iter()
            .enumerate()
            .map(|(at, line)| {
                let size = line.size.map_or_else(String::new, |size| {
                    format!(
                        r#"<br><span class="small soft">{} {size}</span>"#,
                        self.word("size")
                    )
                });
                self.fill(
                    pages::LINE,
                    vec![
                        ("id", line.product.id.into()),
                        ("name", self.word(line.product.id).into()),
                        ("tint", line.product.tint.into()),
                        ("picture", Value::Html(line.product.picture.to_owned())),
                        ("size", Value::Html(size)),
                        ("quantity", line.quantity.to_string().into()),
                        ("price", self.shown(line.price()).into()),
                        ("line", at.to_string().into()),
                    ],
                )
            })
            .collect();
        let content = self.fill(
            pages::BASKET,
            vec![("lines", Value::Html(lines)), ("sum", self.sum())],
        );
        Answer::Page(self.shop_page("basket.title", &content))
    }

    fn checkout(&self) -> Answer {
        if self.inside.told().basket.is_empty() {
            return self.to("/basket");
        }
        let address = self.inside.told().address.clone().unwrap_or_default();
        let content = self.fill(
            pages::CHECKOUT,
            vec![
                ("name", address.name.into()),
                ("street", address.street.into()),
                ("postcode", address.postcode.into()),
                ("city", address.city.into()),
                ("note", address.note.into()),
                ("standard", self.shown(Delivery::Standard.price()).into()),
                ("express", self.shown(Delivery::Express.price()).into()),
                ("sum", self.sum()),
            ],
        );
        Answer::Page(self.shop_page("delivery.title", &content))
    }

    fn deliver(&self) -> Answer {
        let needed = ["name", "street", "postcode", "city", "country"];
        if needed.iter().any(|name| self.field(name).is_empty()) {
            return self.to("/checkout");
        }
        let mut told = self.inside.told();
        told.address = Some(Address {
            name: self.field("name").to_owned(),
            street: self.field("street").to_owned(),
            postcode: self.field("postcode").to_owned(),
            city: self.field("city").to_owned(),
            note: self.field("note").to_owned(),
        });
        told.delivery = if self.field("delivery") == "express" {
            Delivery::Express
        } else {
            Delivery::Standard
        };
        self.to("/payment")
    }

    fn payment(&self) -> Answer {
        let (address, total, basket) = {
            let told = self.inside.told();
            (told.address.clone(), told.total(), told.basket.clone())
        };
        let Some(address) = address.filter(|_| !basket.is_empty()) else {
            return self.to("/basket");
        };
        let bought: Vec<String> = basket
            .iter()
            .map(|line| {
                format!(
                    "{} × {}",
                    line.quantity,
                    pages::escape(self.word(line.product.id))
                )
            })
            .collect();
        let content = self.fill(
            pages::PAYMENT,
            vec![
                (
                    "pay",
                    self.word("pay")
                        .replace("{total}", &self.shown(total))
                        .into(),
                ),
                ("bought", Value::Html(bought.join("<br>"))),
                ("sum", self.sum()),
                ("name", address.name.into()),
                ("street", address.street.into()),
                ("postcode", address.postcode.into()),
                ("city", address.city.into()),
            ],
        );
        Answer::Page(self.shop_page("payment.title", &content))
    }

    fn pay(&self) -> Answer {
        let card = ["cc-name", "cc-number", "cc-exp", "cc-csc"];
        let mut told = self.inside.told();
        if told.basket.is_empty()
            || told.address.is_none()
            || card.iter().any(|name| self.field(name).is_empty())
        {
            return self.to("/payment");
        }
        let total = told.total();
        told.counters.payments += 1;
        told.last_order = Some((2040 + told.counters.payments, total));
        told.booked
            .push(("Larch & Loom".to_owned(), "Card payment".to_owned(), total));
        told.basket.clear();
        told.delivery = Delivery::Standard;
        self.to("/thanks")
    }

    fn thanks(&self) -> Answer {
        let Some((number, total)) = self.inside.told().last_order else {
            return self.to("/");
        };
        let content = self.fill(
            pages::THANKS,
            vec![
                (
                    "thanks",
                    self.word("thanks.text")
                        .replace("{total}", &self.shown(total))
                        .into(),
                ),
                ("order", format!("LL-{number}").into()),
            ],
        );
        Answer::Page(self.shop_page("thanks.title", &content))
    }
}
