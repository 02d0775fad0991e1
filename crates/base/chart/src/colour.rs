//! The colour scale of heat maps: even to the eye, and as readable in grey, since it only gets lighter.
//!
//! From dark violet over blue and green to light yellow, as in viridis (S. van der Walt and N. Smith, 2015), which readers with any of the
//! common colour blindnesses can distinguish. The stops are our own: lightness from 0.28 to 0.92 and hue from 300° to 105° in OKLCH, as much
//! chroma as sRGB has there and 0.155 at most, placed at equal distances in OKLab (B. Ottosson, 2020).

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb([u8; 3]);

const STOPS: [[u8; 3]; 17] = [
    [0x36, 0x07, 0x61],
    [0x35, 0x14, 0x79],
    [0x2d, 0x29, 0x8a],
    [0x1b, 0x3d, 0x98],
    [0x0d, 0x4e, 0x95],
    [0x12, 0x5e, 0x90],
    [0x16, 0x6f, 0x91],
    [0x1b, 0x80, 0x95],
    [0x20, 0x91, 0x99],
    [0x24, 0xa2, 0x9a],
    [0x28, 0xb2, 0x98],
    [0x2c, 0xc2, 0x8f],
    [0x53, 0xcd, 0x81],
    [0x82, 0xd7, 0x76],
    [0xab, 0xde, 0x6b],
    [0xd1, 0xe5, 0x64],
    [0xf4, 0xea, 0x62],
];

impl Rgb {
    /// The colour at `share` of the scale, from 0 (dark) to 1 (light); values beyond have the end's colour.
    pub(super) fn at(share: f64) -> Self {
        let position = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
        let below = (position as usize).min(STOPS.len() - 2);
        let part = position - below as f64;
        let mix = |channel: usize| {
            let [from, to] = [below, below + 1].map(|stop| f64::from(STOPS[stop][channel]));
            (from + (to - from) * part).round() as u8
        };
        Self([mix(0), mix(1), mix(2)])
    }

    /// As SVG and CSS write it: `#360761`.
    pub(super) fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// Whether white has more contrast on it than black.
    pub(super) fn wants_white_text(self) -> bool {
        self.contrast_with(1.0) > self.contrast_with(0.0)
    }

    /// Contrast ratio with a grey of this relative luminance (WCAG 2.2, "contrast ratio").
    fn contrast_with(self, luminance: f64) -> f64 {
        let (light, dark) = (
            self.luminance().max(luminance) + 0.05,
            self.luminance().min(luminance) + 0.05,
        );
        light / dark
    }

    /// Relative luminance (WCAG 2.2).
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// The channels without sRGB's transfer function (IEC 61966-2-1), from 0 to 1.
    fn linear(self) -> [f64; 3] {
        self.0.map(|channel| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 {
                share / 12.92
            } else {
                libm::pow((share + 0.055) / 1.055, 2.4)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lightness, green to red, blue to yellow (B. Ottosson, "A perceptual color space for image processing", 2020).
    fn oklab(colour: Rgb) -> [f64; 3] {
        let [r, g, b] = colour.linear();
        let l = libm::cbrt(0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b);
        let m = libm::cbrt(0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b);
        let s = libm::cbrt(0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b);
        [
            0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    }

    fn stop(nth: usize) -> Rgb {
        Rgb::at(nth as f64 / (STOPS.len() - 1) as f64)
    }

    #[test]
    fn equal_steps_look_equal() {
        let distances: Vec<f64> = (1..STOPS.len())
            .map(|nth| {
                let [from, to] = [nth - 1, nth].map(|nth| oklab(stop(nth)));
                let squares: f64 = from.iter().zip(to).map(|(from, to)| (to - from) * (to - from)).sum();
                squares.sqrt()
            })
            .collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        for distance in &distances {
            // Channels are rounded to 1 / 255, up to 0.004 in OKLab, and a chord is shorter than its arc: together less than an eighth of a step.
            assert!(
                (distance / mean - 1.0).abs() < 0.125,
                "{distance} and {mean} on average"
            );
        }
    }

    #[test]
    fn every_step_is_lighter_so_that_grey_print_keeps_the_order() {
        for nth in 1..STOPS.len() {
            assert!(oklab(stop(nth))[0] > oklab(stop(nth - 1))[0] + 0.01, "stop {nth}");
        }
    }

    #[test]
    fn text_can_be_read_on_every_colour() {
        for percent in 0..=100 {
            let colour = Rgb::at(f64::from(percent) / 100.0);
            let text = if colour.wants_white_text() { 1.0 } else { 0.0 };
            // 4.5 is what WCAG 2.2 (success criterion 1.4.3) asks of small text.
            assert!(colour.contrast_with(text) >= 4.5, "{percent} %: {}", colour.hex());
        }
    }

    #[test]
    fn what_lies_beyond_the_scale_has_its_ends_colour() {
        assert_eq!((Rgb::at(-3.0), Rgb::at(7.0)), (Rgb::at(0.0), Rgb::at(1.0)));
        assert_eq!(Rgb::at(0.0).hex(), "#360761");
    }
}
