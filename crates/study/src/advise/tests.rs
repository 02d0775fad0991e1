//! Claims about whole advices.
