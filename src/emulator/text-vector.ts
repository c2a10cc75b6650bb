import { hashText } from './prompt-hash.js';

/**
 * A text as a vector of length 1: every word has a direction, so texts with words in common are close to each other.
 * Sufficient to test a search, and deterministic.
 */
export function textVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    const hash = hashText(word);
    vector[hash % dimensions]! += (hash & 0x40000000) === 0 ? 1 : -1;
    vector[(hash >>> 8) % dimensions]! += 0.5;
  }
  const length = Math.sqrt(dot(vector, vector));
  for (let i = 0; i < dimensions; i++) vector[i]! /= length || 1;
  return vector;
}

/** How much two texts have in common, from 0 to 1. */
export function similarity(a: string, b: string): number {
  return (1 + dot(textVector(a, 64), textVector(b, 64))) / 2;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
