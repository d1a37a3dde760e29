//! The forward pass of a BERT encoder (Devlin et al. 2018), on which most sentence models are based: embeddings, then
//! layers of self-attention and a feed-forward network, each with a residual connection and layer normalisation.

use std::collections::HashMap;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// The model's dimensions and other parameters, read from `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub struct Shape {
    #[serde(default)]
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    /// Maximum number of tokens in the input.
    pub max_position_embeddings: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: String,
}

fn default_epsilon() -> f32 {
    1e-12
}

impl Shape {
    /// Reads and checks the shape in a `config.json` file.
    ///
    /// # Errors
    /// If the file cannot be read, describes another kind of model, or contains sizes that are out of range. The
    /// message names the file.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let shape: Self = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        let fits = |n: usize, most: usize| (1..=most).contains(&n);
        if shape.model_type != "bert" || !matches!(shape.hidden_act.as_str(), "gelu" | "") {
            return Err(format!(
                "{}: expected a model of type bert with gelu, got {:?} with {:?}",
                file.display(),
                shape.model_type,
                shape.hidden_act
            ));
        }
        let sizes = fits(shape.hidden_size, 4096)
            && fits(shape.num_hidden_layers, 64)
            && fits(shape.num_attention_heads, 64)
            && fits(shape.intermediate_size, 16_384)
            && fits(shape.max_position_embeddings, 16_384)
            && shape.hidden_size.is_multiple_of(shape.num_attention_heads);
        if sizes { Ok(shape) } else { Err(format!("{}: sizes are out of range", file.display())) }
    }
}

/// A linear layer: a weight matrix (one row per output, stored row by row) and a bias.
struct Linear {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// The weights of a layer normalisation.
struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    norm: Norm,
    up: Linear,
    down: Linear,
    last: Norm,
}

/// An encoder with its weights.
pub struct Encoder {
    shape: Shape,
    words: Vec<f32>,
    positions: Vec<f32>,
    kind: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// The tensors in a file, by name without the prefix `bert.`.
struct Tensors<'a>(HashMap<String, safetensors::tensor::TensorView<'a>>);

impl Tensors<'_> {
    fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let tensor = self.0.get(name).ok_or_else(|| format!("the model has no tensor {name}"))?;
        if tensor.shape() != shape {
            return Err(format!("{name}: expected the shape {shape:?}, got {:?}", tensor.shape()));
        }
        let data = tensor.data();
        let half = |bits: u16| f32::from_bits(widen(bits));
        Ok(match tensor.dtype() {
            Dtype::F32 => data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Dtype::F16 => data.as_chunks::<2>().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect(),
            Dtype::BF16 => data
                .as_chunks::<2>()
                .0
                .iter()
                .map(|b| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16))
                .collect(),
            other => return Err(format!("{name}: expected 32-bit or 16-bit floats, got {other:?}")),
        })
    }

    fn linear(&self, name: &str, (output, input): (usize, usize)) -> Result<Linear, String> {
        let weight = self.read(&format!("{name}.weight"), &[output, input])?;
        Ok(Linear { weight, bias: self.read(&format!("{name}.bias"), &[output])? })
    }

    fn norm(&self, name: &str, size: usize) -> Result<Norm, String> {
        Ok(Norm {
            scale: self.read(&format!("{name}.weight"), &[size])?,
            shift: self.read(&format!("{name}.bias"), &[size])?,
        })
    }
}

/// Converts the bits of a half-precision float to those of a single-precision float.
fn widen(half: u16) -> u32 {
    let (sign, exponent, fraction) = (u32::from(half >> 15) << 31, u32::from(half >> 10) & 31, u32::from(half) & 1023);
    match (exponent, fraction) {
        (0, 0) => sign,
        (0, _) => {
            let shift = fraction.leading_zeros() - 21;
            sign | ((113 - shift) << 23) | (((fraction << shift) & 1023) << 13)
        }
        (31, _) => sign | 0x7f80_0000 | (fraction << 13),
        _ => sign | ((exponent + 112) << 23) | (fraction << 13),
    }
}

impl Linear {
    /// Multiplies each of the `rows` rows of `input` by the weights, and adds the bias.
    fn apply(&self, input: &[f32], rows: usize) -> Vec<f32> {
        let (n, k) = (self.bias.len(), input.len() / rows.max(1));
        let mut output: Vec<f32> = self.bias.iter().copied().cycle().take(rows * n).collect();
        product((input, k, 1), (&self.weight, 1, k), &mut output, (rows, k, n), (1.0, 1.0));
        output
    }
}

/// Computes `alpha * a * b + beta * output` into `output`. Each input matrix is given with its row and column strides.
/// The matrix `a` has `m` rows and `k` columns, and `b` has `k` rows and `n` columns.
#[allow(unsafe_code)]
fn product(
    (a, row_a, column_a): (&[f32], usize, usize),
    (b, row_b, column_b): (&[f32], usize, usize),
    output: &mut [f32],
    (m, k, n): (usize, usize, usize),
    (alpha, beta): (f32, f32),
) {
    let last = |rows: usize, columns: usize, row: usize, column: usize| (rows - 1) * row + (columns - 1) * column;
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    assert!(last(m, k, row_a, column_a) < a.len() && last(k, n, row_b, column_b) < b.len() && m * n <= output.len());
    // SAFETY: the assertion keeps the highest index at which each matrix is read or written within its slice. Sizes are
    // far below `isize::MAX`, because `Shape::read` bounds them. `output` is borrowed mutably, so it overlaps neither
    // input.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            alpha,
            a.as_ptr(),
            row_a as isize,
            column_a as isize,
            b.as_ptr(),
            row_b as isize,
            column_b as isize,
            beta,
            output.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}

impl Norm {
    fn apply(&self, rows: &mut [f32], epsilon: f32) {
        let size = self.scale.len();
        for row in rows.chunks_exact_mut(size) {
            let mean = row.iter().sum::<f32>() / size as f32;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / size as f32;
            let by = 1.0 / (variance + epsilon).sqrt();
            for (x, (scale, shift)) in row.iter_mut().zip(self.scale.iter().zip(&self.shift)) {
                *x = (*x - mean) * by * scale + shift;
            }
        }
    }
}

fn add(into: &mut [f32], other: &[f32]) {
    into.iter_mut().zip(other).for_each(|(x, y)| *x += y);
}

/// Computes GELU, the activation function of the feed-forward network. The error function (erf) is approximated by
/// formula 7.1.26 of Abramowitz and Stegun, with an absolute error below 2e-7.
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let sum = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let erf = (1.0 - sum * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}

impl Encoder {
    /// Reads the weights from a safetensors file.
    ///
    /// # Errors
    /// If the file cannot be read, or a tensor is missing or has an unexpected shape. The message names the file or the
    /// tensor.
    pub fn read(file: &Path, shape: Shape) -> Result<Self, String> {
        let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
        let named = tensors
            .tensors()
            .into_iter()
            .map(|(name, view)| (name.strip_prefix("bert.").map_or(name.clone(), str::to_owned), view));
        let tensors = Tensors(named.collect());
        let (hidden, inner) = (shape.hidden_size, shape.intermediate_size);
        let vocabulary =
            tensors.0.get("embeddings.word_embeddings.weight").and_then(|t| t.shape().first().copied()).unwrap_or(0);
        let layer = |i: usize| -> Result<Layer, String> {
            let part = |name: &str| format!("encoder.layer.{i}.{name}");
            Ok(Layer {
                query: tensors.linear(&part("attention.self.query"), (hidden, hidden))?,
                key: tensors.linear(&part("attention.self.key"), (hidden, hidden))?,
                value: tensors.linear(&part("attention.self.value"), (hidden, hidden))?,
                output: tensors.linear(&part("attention.output.dense"), (hidden, hidden))?,
                norm: tensors.norm(&part("attention.output.LayerNorm"), hidden)?,
                up: tensors.linear(&part("intermediate.dense"), (inner, hidden))?,
                down: tensors.linear(&part("output.dense"), (hidden, inner))?,
                last: tensors.norm(&part("output.LayerNorm"), hidden)?,
            })
        };
        let kinds = tensors
            .0
            .get("embeddings.token_type_embeddings.weight")
            .and_then(|t| t.shape().first().copied())
            .unwrap_or(0);
        if vocabulary == 0 || kinds == 0 {
            return Err(format!("{}: the word or token type embeddings are missing", file.display()));
        }
        let kind = tensors.read("embeddings.token_type_embeddings.weight", &[kinds, hidden])?;
        Ok(Self {
            words: tensors.read("embeddings.word_embeddings.weight", &[vocabulary, hidden])?,
            positions: tensors
                .read("embeddings.position_embeddings.weight", &[shape.max_position_embeddings, hidden])?,
            kind: kind.into_iter().take(hidden).collect(),
            norm: tensors.norm("embeddings.LayerNorm", hidden)?,
            layers: (0..shape.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            shape,
        })
    }

    /// Returns the number of components in the output for each token.
    pub fn dimensions(&self) -> usize {
        self.shape.hidden_size
    }

    /// Returns the last layer's output, with one row per token. Unknown tokens are treated as padding (token 0). Tokens
    /// beyond the maximum number are ignored.
    pub fn run(&self, tokens: &[u32]) -> Vec<f32> {
        let hidden = self.shape.hidden_size;
        let tokens = &tokens[..tokens.len().min(self.shape.max_position_embeddings)];
        let mut states: Vec<f32> = Vec::with_capacity(tokens.len() * hidden);
        for (position, token) in tokens.iter().enumerate() {
            let at = *token as usize * hidden;
            let word = self.words.get(at..at + hidden).unwrap_or(&self.words[..hidden]);
            let place = &self.positions[position * hidden..(position + 1) * hidden];
            states.extend(word.iter().zip(place).zip(&self.kind).map(|((w, p), k)| w + p + k));
        }
        self.norm.apply(&mut states, self.shape.layer_norm_eps);
        for layer in &self.layers {
            self.layer(layer, &mut states, tokens.len());
        }
        states
    }

    fn layer(&self, layer: &Layer, states: &mut [f32], rows: usize) {
        let epsilon = self.shape.layer_norm_eps;
        let attended = self.attention(layer, states, rows);
        add(states, &layer.output.apply(&attended, rows));
        layer.norm.apply(states, epsilon);
        let mut inner = layer.up.apply(states, rows);
        inner.iter_mut().for_each(|x| *x = gelu(*x));
        add(states, &layer.down.apply(&inner, rows));
        layer.last.apply(states, epsilon);
    }

    fn attention(&self, layer: &Layer, states: &[f32], rows: usize) -> Vec<f32> {
        let (hidden, heads) = (self.shape.hidden_size, self.shape.num_attention_heads);
        let size = hidden / heads;
        let (query, key, value) =
            (layer.query.apply(states, rows), layer.key.apply(states, rows), layer.value.apply(states, rows));
        let mut attended = vec![0.0; rows * hidden];
        let (mut scores, mut mixed) = (vec![0.0; rows * rows], vec![0.0; rows * size]);
        for head in 0..heads {
            let from = head * size;
            let scale = 1.0 / (size as f32).sqrt();
            product(
                (&query[from..], hidden, 1),
                (&key[from..], 1, hidden),
                &mut scores,
                (rows, size, rows),
                (scale, 0.0),
            );
            scores.chunks_exact_mut(rows).for_each(softmax);
            product((&scores, rows, 1), (&value[from..], hidden, 1), &mut mixed, (rows, rows, size), (1.0, 0.0));
            for (row, part) in mixed.chunks_exact(size).enumerate() {
                attended[row * hidden + from..row * hidden + from + size].copy_from_slice(part);
            }
        }
        attended
    }
}

fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_floats_are_read_exactly() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x7bff, 65_504.0),
            (0x8000, -0.0),
        ];
        for (bits, value) in cases {
            assert_eq!(f32::from_bits(widen(bits)), value, "{bits:04x}");
        }
        assert!(f32::from_bits(widen(0x7e00)).is_nan());
    }

    #[test]
    fn activation_is_that_of_the_error_function() {
        for (x, y) in [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_3), (3.0, 2.995_950_2), (-5.0, -1.433_5e-6)] {
            assert!((gelu(x) - y).abs() < 1e-5, "{x}: {}", gelu(x));
        }
    }
}
