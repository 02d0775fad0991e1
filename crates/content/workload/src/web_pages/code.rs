//! Generates scripts and style sheets: minified code with few forms and many names.

use crate::vocabulary::Words;
use lastmile_units::Rng;
use lastmile_units::random::{below, between, pick};
use std::fmt::Write as _;

/// A minified script of at least `length` bytes, complete to its last module.
pub(super) fn script(words: &Words, length: usize, rng: &mut Rng) -> String {
    let mut code = String::from("(function(e){var t={};");
    let mut module = 0;
    while code.len() < length {
        module += between(rng, 1, 9);
        let (first, second) = (between(rng, 1, 99), between(rng, 100, 999));
        let _ = write!(
            code,
            "e.d({module},function(e,t,n){{\"use strict\";var r=n({first}),o=n({second});"
        );
        for _ in 0..between(rng, 4, 12) {
            function(words, rng, &mut code);
        }
        let _ = writeln!(code, "t.{}=i}});", words.camel(rng));
    }
    code.push_str("})(window);\n");
    code
}

fn function(words: &Words, rng: &mut Rng, code: &mut String) {
    let (name, field) = (words.camel(rng), words.name(rng).to_owned());
    let _ = write!(code, "function {name}(e,t){{");
    for _ in 0..between(rng, 2, 6) {
        statement(words, rng, code);
    }
    let _ = match below(rng, 4) {
        0 => write!(code, "return e.{field}}}"),
        1 => write!(code, "return t?e.{field}:null}}"),
        2 => write!(code, "return r.{}(e,t)}}", words.camel(rng)),
        _ => write!(code, "}}"),
    };
}

fn statement(words: &Words, rng: &mut Rng, code: &mut String) {
    let (a, b) = (words.camel(rng), words.name(rng).to_owned());
    let number = below(rng, 1000);
    let _ = match below(rng, 9) {
        0 => write!(code, "if(!e.{a})return;"),
        1 => write!(code, "var i=o.{a}(t.{b},{number});"),
        2 => write!(code, "e.{b}=e.{b}||{{}};e.{b}.{a}=t;"),
        3 => write!(code, "for(var s=0;s<e.{b}.length;s++)t.push(r.{a}(e.{b}[s]));"),
        4 => write!(
            code,
            "document.querySelector(\".{b}-{}\").addEventListener(\"click\",{a});",
            words.name(rng)
        ),
        5 => write!(
            code,
            "try{{t=JSON.parse(e.{a})}}catch(e){{console.warn(\"{}\")}}",
            words.sentence(rng)
        ),
        6 => write!(
            code,
            "this.{a}=Object.assign({{}},this.{a},{{{b}:{number},{}:!0}});",
            words.name(rng)
        ),
        7 => write!(code, "null!=t&&\"{b}\"===t.type&&e.{a}(t.{b});"),
        _ => write!(code, "setTimeout(function(){{e.{a}()}},{number});"),
    };
}

/// A style sheet of at least `length` bytes.
pub(super) fn style(words: &Words, length: usize, rng: &mut Rng) -> String {
    let mut sheet = String::new();
    while sheet.len() < length {
        let selector = match below(rng, 4) {
            0 => format!(".{}", words.name(rng)),
            1 => format!(".{}-{}:hover", words.name(rng), words.name(rng)),
            2 => format!(
                ".{} .{}>{}",
                words.name(rng),
                words.name(rng),
                pick(rng, &["a", "li", "span", "div", "img"])
            ),
            _ => format!(".{}__{}", words.name(rng), words.name(rng)),
        };
        let _ = write!(sheet, "{selector}{{");
        for _ in 0..between(rng, 2, 7) {
            let number = between(rng, 0, 64);
            let _ = match below(rng, 8) {
                0 => write!(sheet, "margin:{number}px {}px;", between(rng, 0, 64)),
                1 => write!(sheet, "padding:{number}px;"),
                2 => write!(sheet, "color:#{:06x};", below(rng, 24) * 0x0a_3d71 % 0x100_0000),
                3 => write!(
                    sheet,
                    "font:{} {number}px/1.{} Shop,sans-serif;",
                    pick(rng, &["400", "600"]),
                    below(rng, 9)
                ),
                4 => write!(
                    sheet,
                    "display:{};",
                    pick(rng, &["flex", "block", "none", "grid", "inline-block"])
                ),
                5 => write!(sheet, "border:1px solid rgba(0,0,0,.{});", between(rng, 1, 30)),
                6 => write!(
                    sheet,
                    "transition:{} .{}s ease-in-out;",
                    pick(rng, &["opacity", "transform", "color"]),
                    between(rng, 1, 9)
                ),
                _ => write!(
                    sheet,
                    "width:calc({}% - {number}px);",
                    pick(rng, &["25", "33.333", "50", "100"])
                ),
            };
        }
        sheet.push_str("}\n");
    }
    sheet
}
