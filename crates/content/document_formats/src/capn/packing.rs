//! Packing: each word becomes a tag, whose bits name its bytes other than zero, and those bytes; runs of alike words are counted.

/// A packed message may not unpack into more than this: our own choice, against bombs.
const UNPACKED_BYTES_MAX: usize = 1 << 26;

/// Packs a whole number of words.
pub(super) fn pack(bytes: &[u8]) -> Vec<u8> {
    let (words, _) = bytes.as_chunks::<8>();
    let mut packed = Vec::with_capacity(bytes.len() / 2);
    let mut at = 0;
    while at < words.len() {
        let word = &words[at];
        let tag = word
            .iter()
            .enumerate()
            .fold(0_u8, |tag, (index, byte)| tag | u8::from(*byte != 0) << index);
        packed.push(tag);
        packed.extend(word.iter().filter(|byte| **byte != 0));
        at += 1;
        match tag {
            0 => {
                let run = words[at..].iter().take(255).take_while(|word| **word == [0; 8]).count();
                packed.push(run as u8);
                at += run;
            }
            0xFF => {
                // Words with at most one zero byte are cheaper as they are.
                let is_dense = |word: &&[u8; 8]| word.iter().filter(|byte| **byte == 0).count() < 2;
                let run = words[at..].iter().take(255).take_while(is_dense).count();
                packed.push(run as u8);
                packed.extend(words[at..at + run].iter().flatten());
                at += run;
            }
            _ => {}
        }
    }
    packed
}

/// The words again.
///
/// # Errors
/// When the bytes end within a word, or there would be too many.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = packed;
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at_checked(length)?;
        rest = left;
        Some(taken)
    };
    let cut_off = || "the packed message ends within a word".to_owned();
    while let Some(tag) = take(1) {
        let tag = tag[0];
        let mut set = take(tag.count_ones() as usize).ok_or_else(cut_off)?.iter();
        bytes.extend((0..8).map(|bit| {
            if tag >> bit & 1 == 1 {
                set.next().copied().unwrap_or_default()
            } else {
                0
            }
        }));
        match tag {
            0 => {
                let run = take(1).ok_or_else(cut_off)?[0];
                bytes.resize(bytes.len() + 8 * usize::from(run), 0);
            }
            0xFF => {
                let run = take(1).ok_or_else(cut_off)?[0];
                bytes.extend_from_slice(take(8 * usize::from(run)).ok_or_else(cut_off)?);
            }
            _ => {}
        }
        if bytes.len() > UNPACKED_BYTES_MAX {
            return Err(format!("the message unpacks into more than {UNPACKED_BYTES_MAX} bytes"));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification_pack_as_it_says() {
        let bytes = [0x08, 0, 0, 0, 0x03, 0, 0x02, 0, 0x19, 0, 0, 0, 0xaa, 0x01, 0, 0];
        let packed = [0x51, 0x08, 0x03, 0x02, 0x31, 0x19, 0xaa, 0x01];
        assert_eq!(pack(&bytes), packed);
        assert_eq!(unpack(&packed), Ok(bytes.to_vec()));
        assert_eq!(pack(&[0; 32]), [0, 3]);
        assert_eq!(unpack(&[0, 3]), Ok(vec![0; 32]));
    }

    #[test]
    fn a_message_that_is_cut_off_is_refused() {
        for packed in [&[0x51, 1, 2][..], &[0], &[0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1]] {
            assert!(unpack(packed).is_err());
        }
    }
}
