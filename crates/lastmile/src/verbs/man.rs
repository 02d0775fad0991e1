//! `lastmile man`: prints the manual page of the whole tool, one section per verb.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use std::io;

/// Prints the page as roff.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn man() -> anyhow::Result<Exit> {
    output::print_data(&String::from_utf8(page()?)?)?;
    Ok(Exit::Done)
}

fn page() -> io::Result<Vec<u8>> {
    let mut command = Cli::command();
    // This gives every verb its full name for the synopsis.
    command.build();
    let mut page = Vec::new();
    let whole = Man::new(command.clone()).manual("lastmile manual");
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        verb_sections(verb, &mut page)?;
    }
    verbatim(".SH \"EXIT CODES\"", &command, &mut page);
    Ok(page)
}

/// A verb's sections: `.SH` for the verb, `.SS` for its parts; then the verbs below it.
fn verb_sections(verb: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = verb.get_bin_name().unwrap_or(verb.get_name()).to_uppercase();
    page.extend(format!(".SH \"{name}\"\n").bytes());
    let mut sections = Vec::new();
    let man = Man::new(verb.clone());
    man.render_synopsis_section(&mut sections)?;
    man.render_description_section(&mut sections)?;
    man.render_options_section(&mut sections)?;
    page.extend(String::from_utf8_lossy(&sections).replace(".SH ", ".SS ").bytes());
    verbatim(".SS \"EXAMPLES\"", verb, page);
    for below in verb.get_subcommands().filter(|below| below.get_name() != "help") {
        verb_sections(below, page)?;
    }
    Ok(())
}

/// The text below a command's help (examples, exit codes), with its line breaks.
fn verbatim(heading: &str, command: &Command, page: &mut Vec<u8>) {
    let Some(text) = command.get_after_help().map(ToString::to_string) else {
        return;
    };
    page.extend(format!("{heading}\n.nf\n").bytes());
    // The first line repeats the heading.
    for line in text.lines().skip(1) {
        // Hyphens stay ones that can be copied, quotes stay straight, and no line begins with a roff command.
        let line = line
            .replace('\\', "\\e")
            .replace('-', "\\-")
            .replace('\'', "\\(aq")
            .replace('`', "\\(ga");
        page.extend(format!("\\&{line}\n").bytes());
    }
    page.extend(b".fi\n");
}
