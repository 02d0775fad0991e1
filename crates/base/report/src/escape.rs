//! Escapes the data that a page carries; text goes through [`Text`].

pub(crate) use lastmile_chart::escape::Text;

/// JSON for a `<script type="application/json">`. A script's content ends at `</script`, and `<!--` changes how it is read, even inside
/// quotes (HTML standard, section 13.2.5.4 on); in JSON, `<` occurs only in strings, where `\u003c` is the same.
pub(crate) fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_the_script_it_is_in_and_reads_the_same() {
        let json = serde_json::to_string("</script><!-- & ]]>").unwrap();
        let data = script_data(&json);
        assert!(!data.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&data).unwrap(), "</script><!-- & ]]>");
    }
}
