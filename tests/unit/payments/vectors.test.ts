import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROVIDER_CASES } from '../../support/providers/all-cases.ts';
import type { Vector } from '../../support/providers/provider-case.ts';
import { starsVectors } from '../../support/providers/stars-vectors.ts';

/** The signature vectors of 03a, as docs/spec/vectors/make_vectors.py computed them. */
const file = join(import.meta.dirname, '../../../docs/spec/vectors/provider-vectors.json');
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };

const SIGNERS = [...PROVIDER_CASES, starsVectors];

describe.each(SIGNERS.map((provider) => [provider.method, provider] as const))('vectors of %s', (method, provider) => {
  const ofProvider = vectors.filter((vector) => vector.provider === method);

  test('exist', () => expect(ofProvider.length).toBeGreaterThan(0));

  test.each(ofProvider.map((vector) => [vector.id, vector] as const))('V:%s', (_id, vector) => {
    const result = provider.vector(vector);
    if (typeof result === 'boolean') expect(result).toBe(vector.accept);
    else if (vector.accept) expect(result).toBe(vector.expected);
    else expect(result).not.toBe(vector.expected);
  });
});
