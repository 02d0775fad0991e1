//! What is delivered: workloads, encodings and codecs
