//! Writes images of noise, which browsers decode and nothing compresses: WebP and JPEG.

/// A lossless WebP image whose pixels are `noise`, a grey byte each (RFC 9649, section 3). It is a little longer than that, or as much
/// shorter as one row.
pub(super) fn webp(noise: &[u8]) -> Vec<u8> {
    let width = noise.len().isqrt().max(1);
    let height = noise.len() / width;
    let mut bits = LowBitsFirst::default();
    bits.push(0x2f, 8);
    bits.push(width - 1, 14);
    bits.push(height - 1, 14);
    // No alpha, version 0; a transform, which adds green to red and blue (2), and no other; neither colour cache nor meta prefix codes.
    for (value, count) in [(0, 1), (0, 3), (1, 1), (2, 2), (0, 1), (0, 1), (0, 1)] {
        bits.push(value, count);
    }
    prefix_code_of_bytes(&mut bits);
    // Red, blue, alpha and distance have one symbol each: 0, 0, 255 and 0.
    for symbol in [0, 0, 255, 0] {
        let is_long = symbol > 1;
        // A simple code of one symbol, of 1 or 8 bits.
        bits.push(1, 1);
        bits.push(0, 1);
        bits.push(usize::from(is_long), 1);
        bits.push(symbol, if is_long { 8 } else { 1 });
    }
    for pixel in &noise[..width * height] {
        bits.push(usize::from(*pixel), 8);
    }
    let mut data = bits.finish();
    let length = data.len() as u32;
    if data.len() % 2 == 1 {
        data.push(0);
    }
    let mut image = b"RIFF".to_vec();
    image.extend_from_slice(&(data.len() as u32 + 12).to_le_bytes());
    image.extend_from_slice(b"WEBPVP8L");
    image.extend_from_slice(&length.to_le_bytes());
    image.extend_from_slice(&data);
    image
}

/// The prefix code of green: 8 bits for each of 256 values, and none for the 24 lengths of copies (RFC 9649, section 3.7.2.1).
fn prefix_code_of_bytes(bits: &mut LowBitsFirst) {
    // A normal code; the lengths of 12 code length codes, in the order 17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8: only 0 and 8 occur.
    bits.push(0, 1);
    bits.push(12 - 4, 4);
    for is_used in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1] {
        bits.push(is_used, 3);
    }
    // As many lengths as there are symbols. The code of length 0 is 0, that of length 8 is 1.
    bits.push(0, 1);
    for symbol in 0..256 + 24 {
        bits.push(usize::from(symbol < 256), 1);
    }
}

/// Bits from the lowest of each byte on.
#[derive(Default)]
struct LowBitsFirst {
    bytes: Vec<u8>,
    pending: usize,
    count: u32,
}

impl LowBitsFirst {
    /// Adds the lowest `count` bits of `value`, at most 14.
    fn push(&mut self, value: usize, count: u32) {
        self.pending |= value << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}

/// A grey baseline JPEG image of about as many bytes as `noise`, whose coefficients it is (ITU-T T.81, annexes B and F).
///
/// A coefficient of s bits, 1 to 9, is preceded by s - 1 ones and a zero: then random bits are coefficients, whatever they are.
pub(super) fn jpeg(noise: &[u8]) -> Vec<u8> {
    const COLUMNS: usize = 16;
    let mut scan = HighBitsFirst::default();
    let mut blocks = 0;
    let mut random = RandomBits { noise, next: 0 };
    // Header, end and the rest of the last row of blocks take some 250 bytes.
    while scan.bytes.len() + 250 < noise.len() || blocks % COLUMNS > 0 {
        // The difference of the mean: 0.
        scan.push(0, 1);
        if scan.bytes.len() + 250 >= noise.len() {
            scan.push(END_OF_BLOCK, SIZES + 1);
        } else {
            for _ in 1..64 {
                coefficient(&mut random, &mut scan);
            }
        }
        blocks += 1;
    }
    let size = [8 * blocks / COLUMNS, 8 * COLUMNS].map(|length| (length as u16).to_be_bytes());
    let mut image = vec![0xff, 0xd8];
    segment(&mut image, 0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    segment(&mut image, 0xdb, &[&[0][..], &[1; 64]].concat());
    segment(&mut image, 0xc0, &[&[8], &size.concat()[..], &[1, 1, 0x11, 0]].concat());
    // The means have one symbol, of one bit. Coefficients have a symbol of each length: their sizes, and the end of the block.
    segment(&mut image, 0xc4, &[&[0, 1][..], &[0; 15], &[0]].concat());
    let symbols: Vec<u8> = (1..=SIZES as u8).chain([0]).collect();
    let lengths: Vec<u8> = (1..=16).map(|length| u8::from(length <= symbols.len())).collect();
    segment(&mut image, 0xc4, &[&[0x10], &lengths[..], &symbols].concat());
    segment(&mut image, 0xda, &[1, 1, 0, 0, 63, 0]);
    image.extend_from_slice(&scan.finish());
    image.extend_from_slice(&[0xff, 0xd9]);
    image
}

/// The greatest size of a coefficient in bits.
const SIZES: u32 = 9;

/// The code behind those of the sizes: nine ones and a zero.
const END_OF_BLOCK: u32 = 0x3fe;

fn coefficient(random: &mut RandomBits<'_>, scan: &mut HighBitsFirst) {
    let mut size = 1;
    while size < SIZES && random.next() == 1 {
        scan.push(1, 1);
        size += 1;
    }
    scan.push(0, 1);
    for _ in 0..size {
        scan.push(random.next(), 1);
    }
}

fn segment(image: &mut Vec<u8>, marker: u8, content: &[u8]) {
    image.extend_from_slice(&[0xff, marker]);
    image.extend_from_slice(&(content.len() as u16 + 2).to_be_bytes());
    image.extend_from_slice(content);
}

/// The bits of `noise`, then zeros.
struct RandomBits<'a> {
    noise: &'a [u8],
    next: usize,
}

impl RandomBits<'_> {
    fn next(&mut self) -> u32 {
        let byte = self.noise.get(self.next / 8).copied().unwrap_or_default();
        let bit = (byte >> (self.next % 8)) & 1;
        self.next += 1;
        u32::from(bit)
    }
}

/// Bits from the highest of each byte on; a zero byte follows each of ones (ITU-T T.81, section F.1.2.3).
#[derive(Default)]
struct HighBitsFirst {
    bytes: Vec<u8>,
    pending: u32,
    count: u32,
}

impl HighBitsFirst {
    fn push(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            self.pending = self.pending << 1 | (value >> bit) & 1;
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.pending as u8);
                if self.pending == 0xff {
                    self.bytes.push(0);
                }
                (self.pending, self.count) = (0, 0);
            }
        }
    }

    /// The bytes, the last one filled with ones.
    fn finish(mut self) -> Vec<u8> {
        while self.count > 0 {
            self.push(1, 1);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::Seed;
    use rand_core::Rng as _;

    fn noise(length: usize) -> Vec<u8> {
        let mut noise = vec![0; length];
        Seed::new(1).rng().fill_bytes(&mut noise);
        noise
    }

    #[test]
    fn an_image_is_about_as_long_as_its_noise() {
        for length in [4_000, 20_011, 100_000] {
            for image in [webp(&noise(length)), jpeg(&noise(length))] {
                assert!(image.len().abs_diff(length) < length / 40, "{length}: {}", image.len());
            }
        }
    }

    #[test]
    fn a_webp_file_states_its_own_length_and_is_of_even_length() {
        for length in 3_000..3_010 {
            let image = webp(&noise(length));
            let stated = u32::from_le_bytes(image[4..8].try_into().unwrap());
            assert_eq!(stated as usize + 8, image.len());
            assert_eq!(image.len() % 2, 0);
        }
    }

    #[test]
    fn a_jpeg_scan_contains_no_marker() {
        let image = jpeg(&noise(30_000));
        let scan = image.windows(2).position(|pair| pair == [0xff, 0xda]).unwrap() + 2;
        let markers = image[scan..].windows(2).filter(|pair| pair[0] == 0xff && pair[1] != 0);
        assert_eq!(markers.collect::<Vec<_>>(), [[0xff, 0xd9]]);
        // 16 columns of 8 pixels; as many rows as the blocks fill.
        assert!(image.windows(4).any(|found| found == [0xff, 0xc0, 0, 11]));
    }
}
