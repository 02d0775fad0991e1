//! Generates the shop's pages, API responses and drawings.

use crate::vocabulary::{Words, capitalised};
use lastmile_units::Rng;
use lastmile_units::random::{below, between, pick};
use std::fmt::Write as _;

/// A page with this many products.
pub(super) fn page(words: &Words, products: usize, rng: &mut Rng) -> String {
    let title = words.title(rng);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  <meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n  <title>{title}</title>\n  <meta name=\"description\" \
         content=\"{}\">\n  <link rel=\"stylesheet\" href=\"https://static.shop.example/css/base.css\">\n</head>\n<body>\n  <nav \
         class=\"menu\">\n    <ul>\n",
        words.sentence(rng)
    );
    for _ in 0..40 {
        let name = words.name(rng);
        let _ = writeln!(
            page,
            "      <li class=\"menu-item\"><a href=\"/c/{name}\">{}</a></li>",
            capitalised(name)
        );
    }
    page.push_str("    </ul>\n  </nav>\n  <main class=\"listing\">\n");
    for _ in 0..products {
        let (identifier, name) = (between(rng, 100_000, 999_999), words.title(rng));
        let (price, stars) = (price(rng), between(rng, 20, 50));
        let _ = writeln!(
            page,
            "    <article class=\"product card\" data-product-id=\"{identifier}\">\n      <a class=\"product-link\" \
             href=\"/p/{identifier}\">\n        <img class=\"product-image\" loading=\"lazy\" width=\"320\" height=\"320\" \
             src=\"https://static.shop.example/img/{identifier}.webp\" alt=\"{name}\">\n        <h3 class=\"product-title\">{name}</h3>\n      \
             </a>\n      <p class=\"product-text\">{}</p>\n      <div class=\"product-meta\">\n        <span class=\"rating\" \
             data-stars=\"{}.{}\">{} reviews</span>\n        <span class=\"price\">{price}</span>\n        <button class=\"button \
             button-primary add-to-cart\" type=\"button\">Add to cart</button>\n      </div>\n    </article>",
            words.sentences(2, rng),
            stars / 10,
            stars % 10,
            below(rng, 900),
        );
    }
    page.push_str("  </main>\n  <footer class=\"footer\">\n");
    for _ in 0..12 {
        let _ = writeln!(page, "    <p>{}</p>", words.sentences(3, rng));
    }
    page.push_str(
        "  </footer>\n  <script defer src=\"https://static.shop.example/js/main.js\"></script>\n</body>\n</html>\n",
    );
    page
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
