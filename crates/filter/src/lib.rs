//! HTTP content coding as a tower layer
