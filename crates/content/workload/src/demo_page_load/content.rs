//! Generates the shop's pages, API responses and drawings.

use crate::vocabulary::{Words, capitalised};
use lastmile_units::Rng;
use lastmile_units::random::{below, between, pick};
use std::fmt::Write as _;

/// The text of a page, without the resources that it names.
pub(super) struct PageText {
    pub(super) title: String,
    description: String,
    menu: Vec<String>,
    products: Vec<Product>,
    footer: Vec<String>,
}

struct Product {
    identifier: usize,
    name: String,
    price: String,
    stars: usize,
    text: String,
    reviews: usize,
}

/// The parts of a page that name its resources, as markup.
pub(super) struct PageNames {
    /// The last lines of the head.
    pub(super) head: String,
    /// The first lines of the body.
    pub(super) top: String,
    /// For each product, the attributes of its picture.
    pub(super) pictures: Vec<String>,
    /// The last lines of the body.
    pub(super) end: String,
}

impl PageText {
    /// A page with this many products.
    pub(super) fn generate(words: &Words, products: usize, rng: &mut Rng) -> Self {
        Self {
            title: words.title(rng),
            description: words.sentence(rng),
            menu: (0..40).map(|_| words.name(rng).to_owned()).collect(),
            products: (0..products).map(|_| Product::generate(words, rng)).collect(),
            footer: (0..12).map(|_| words.sentences(3, rng)).collect(),
        }
    }

    /// The page, which names a style sheet, a script and a picture per product.
    pub(super) fn html_alone(&self) -> String {
        let pictures = self.products.iter().map(|product| {
            format!(
                "loading=\"lazy\" width=\"320\" height=\"320\" src=\"https://static.shop.example/img/{}.webp\"",
                product.identifier
            )
        });
        self.html(&PageNames {
            head: "  <link rel=\"stylesheet\" href=\"https://static.shop.example/css/base.css\">\n".to_owned(),
            top: String::new(),
            pictures: pictures.collect(),
            end: "  <script defer src=\"https://static.shop.example/js/main.js\"></script>\n".to_owned(),
        })
    }

    /// The page with these names.
    pub(super) fn html(&self, names: &PageNames) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  <meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n  <title>{}</title>\n  <meta name=\"description\" \
             content=\"{}\">\n{}</head>\n<body>\n{}{}{}</body>\n</html>\n",
            self.title,
            self.description,
            names.head,
            names.top,
            self.fragment(&names.pictures),
            names.end
        )
    }

    /// The page without its head, for another page to contain; `pictures` has the attributes of each product's picture.
    pub(super) fn fragment(&self, pictures: &[String]) -> String {
        let mut page = String::from("  <nav class=\"menu\">\n    <ul>\n");
        for name in &self.menu {
            let _ = writeln!(
                page,
                "      <li class=\"menu-item\"><a href=\"/c/{name}\">{}</a></li>",
                capitalised(name)
            );
        }
        page.push_str("    </ul>\n  </nav>\n  <main class=\"listing\">\n");
        for (product, picture) in self.products.iter().zip(pictures) {
            product.write(picture, &mut page);
        }
        page.push_str("  </main>\n  <footer class=\"footer\">\n");
        for paragraph in &self.footer {
            let _ = writeln!(page, "    <p>{paragraph}</p>");
        }
        page.push_str("  </footer>\n");
        page
    }
}

impl Product {
    fn generate(words: &Words, rng: &mut Rng) -> Self {
        Self {
            identifier: between(rng, 100_000, 999_999),
            name: words.title(rng),
            price: price(rng),
            stars: between(rng, 20, 50),
            text: words.sentences(2, rng),
            reviews: below(rng, 900),
        }
    }

    fn write(&self, picture: &str, page: &mut String) {
        let Self {
            identifier,
            name,
            price,
            stars,
            text,
            reviews,
        } = self;
        let _ = writeln!(
            page,
            "    <article class=\"product card\" data-product-id=\"{identifier}\">\n      <a class=\"product-link\" \
             href=\"/p/{identifier}\">\n        <img class=\"product-image\" {picture} alt=\"{name}\">\n        \
             <h3 class=\"product-title\">{name}</h3>\n      \
             </a>\n      <p class=\"product-text\">{text}</p>\n      <div class=\"product-meta\">\n        <span class=\"rating\" \
             data-stars=\"{}.{}\">{reviews} reviews</span>\n        <span class=\"price\">{price}</span>\n        <button class=\"button \
             button-primary add-to-cart\" type=\"button\">Add to cart</button>\n      </div>\n    </article>",
            stars / 10,
            stars % 10,
        );
    }
}

/// An API response: a list of products.
pub(super) fn products(words: &Words, count: usize, rng: &mut Rng) -> String {
    // Products come from a few makers, who describe them in much the same words.
    let makers: Vec<_> = (0..8).map(|_| (words.title(rng), words.sentence(rng))).collect();
    let items: Vec<_> = (0..count)
        .map(|_| product(words, &makers[below(rng, makers.len())], rng))
        .collect();
    format!("{{\"page\":1,\"total\":{count},\"items\":[{}]}}", items.join(","))
}

fn product(words: &Words, (maker, text): &(String, String), rng: &mut Rng) -> String {
    let identifier = between(rng, 100_000, 999_999);
    let text = if below(rng, 2) == 0 {
        text.clone()
    } else {
        words.sentence(rng)
    };
    let mut item = String::new();
    let _ = write!(
        item,
        "{{\"id\":{identifier},\"title\":\"{}\",\"maker\":\"{maker}\",\"description\":\"{text}\",",
        words.title(rng)
    );
    let _ = write!(
        item,
        "\"price\":{{\"amount\":\"{}\",\"currency\":\"EUR\",\"includesTax\":true,\"discounted\":{}}},",
        price(rng),
        below(rng, 4) == 0,
    );
    let _ = write!(
        item,
        "\"category\":\"{}\",\"available\":{},\"stock\":{},\"rating\":{{\"average\":{}.{},\"count\":{}}},",
        words.name(rng),
        below(rng, 8) != 0,
        below(rng, 50),
        between(rng, 2, 4),
        below(rng, 10),
        below(rng, 100),
    );
    let _ = write!(
        item,
        "\"images\":[{{\"url\":\"https://static.shop.example/img/{identifier}-1.webp\",\"width\":640,\"height\":640}},\
         {{\"url\":\"https://static.shop.example/img/{identifier}-2.webp\",\"width\":640,\"height\":640}}],"
    );
    let _ = write!(
        item,
        "\"links\":{{\"self\":\"/v2/products/{identifier}\",\"page\":\"/p/{identifier}\"}},\"updatedAt\":\"2026-01-{:02}T04:00:00Z\"}}",
        between(rng, 1, 15),
    );
    item
}

/// An API response: one record with a few fields.
pub(super) fn record(words: &Words, fields: usize, rng: &mut Rng) -> String {
    let fields: Vec<_> = (0..fields)
        .map(|_| {
            let name = words.camel(rng);
            match below(rng, 4) {
                0 => format!("\"{name}\":{}", below(rng, 100_000)),
                1 => format!("\"{name}\":{}", pick(rng, &["true", "false", "null"])),
                2 => format!("\"{name}\":\"{}\"", words.title(rng)),
                _ => format!(
                    "\"{name}\":{{\"type\":\"{}\",\"value\":{}}}",
                    words.name(rng),
                    below(rng, 1000)
                ),
            }
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Comma-separated orders.
pub(super) fn orders(words: &Words, count: usize, rng: &mut Rng) -> String {
    let mut table = String::from("order,date,customer,product,quantity,amount,status\n");
    for order in 0..count {
        let _ = writeln!(
            table,
            "{},2026-01-{:02},{},{},{},{},{}",
            700_000 + order,
            1 + order * 31 / count,
            between(rng, 1000, 9999),
            words.camel(rng),
            between(rng, 1, 5),
            price(rng),
            pick(rng, &["paid", "shipped", "returned", "open"]),
        );
    }
    table
}

/// A feed of articles, as XML.
pub(super) fn feed(words: &Words, count: usize, rng: &mut Rng) -> String {
    let mut feed = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\n");
    for _ in 0..count {
        let _ = writeln!(
            feed,
            "<item><title>{}</title><link>https://www.shop.example/news/{}</link><description>{}</description></item>",
            words.title(rng),
            words.name(rng),
            words.sentences(3, rng)
        );
    }
    feed.push_str("</channel></rss>\n");
    feed
}

/// A drawing with this many paths.
pub(super) fn drawing(paths: usize, rng: &mut Rng) -> String {
    let mut drawing = String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 256 256\">");
    for _ in 0..paths {
        let _ = write!(
            drawing,
            "<path fill=\"#{:06x}\" d=\"M{} {}",
            below(rng, 12) * 0x15_5555,
            below(rng, 256),
            below(rng, 256)
        );
        for _ in 0..between(rng, 4, 16) {
            let mut number = || format!("{}.{}", below(rng, 48), below(rng, 10));
            let _ = write!(
                drawing,
                "c{} {}-{} {} {}-{}",
                number(),
                number(),
                number(),
                number(),
                number(),
                number()
            );
        }
        drawing.push_str("z\"/>");
    }
    drawing.push_str("</svg>\n");
    drawing
}

fn price(rng: &mut Rng) -> String {
    format!(
        "{}.{}",
        between(rng, 3, 400),
        pick(rng, &["00", "49", "90", "95", "99"])
    )
}
