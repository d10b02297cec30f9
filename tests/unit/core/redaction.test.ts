import { describe, expect, it } from 'vitest';
import { createRedactor, isSecretKey, REDACTED } from '../../../src/core/redaction.ts';

const REGISTERED = ['panelkey-58f1c0', 'p4ss/w"rd\\x', '://odd@value', 'token=quoted"', 'eyJshort', 'ж-секрет-ключ'];
const NAMES = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'apikey',
  'api_key',
  'API-Key',
  'authorization',
  'Cookie',
  'initdata',
];
const SHAPES = [
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  'sst_9fQ2mZx7Lk0pWv3RtY8uAa5BcDeFgHiJ',
  '1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1',
  'Bearer hunter2hunter2',
  'bASIC hunter2hunter2',
  'postgresql://app:hunter2hunter2@db:5432/app',
  ...NAMES.flatMap((name) => [
    `${name}=hunter2hunter2`,
    JSON.stringify({ [name]: 'hunter2hunter2' }),
    `"x-${name}" : "hunter2hunter2`,
  ]),
];
const HARMLESS = [
  'GET /api/v1/users/42?page=2 took 12:30:05.123 ms',
  '"route":"/cabinet/auth/forgot-password","status":200',
  'tokens and secrets of the bearers',
  '123e4567-e89b-12d3-a456-426614174000',
  '{"tokenPrefix":"sst","cookies":3}',
  'eyJ and sst_ab and 12:34',
  'https://example.org/path',
  '\\',
  '"',
  'ж',
];

/** A repeatable source of numbers below `limit`. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Begins as a token does, so the text is searched for everything; alone it is no token and stays. */
const SUSPICIOUS_END = '\n sst_';

describe('redaction of a text', () => {
  it('blanks registered values and shapes at any place of any text', () => {
    const pick = numbers(20_261_120);
    const parts = [...REGISTERED, ...SHAPES, ...HARMLESS];
    const redactor = createRedactor(REGISTERED);
    let unchanged = 0;
    for (let run = 0; run < 4_000; run += 1) {
      const chosen = Array.from({ length: 1 + pick(5) }, () => parts[pick(parts.length)]!);
      let text = chosen.join([' ', ',', '\n', '"'][pick(4)]!);
      for (let depth = pick(3); depth > 0; depth -= 1) text = JSON.stringify({ body: text });
      const shown = redactor.text(text);
      // A text that is free of secrets at the first look is free of them when every rule is applied to it.
      if (shown === text) expect(redactor.text(`${text}${SUSPICIOUS_END}`)).toBe(`${text}${SUSPICIOUS_END}`);
      unchanged += shown === text ? 1 : 0;
      expect(shown).not.toMatch(/hunter2hunter2|panelkey-58f1c0|dBjftJeZ4CVP|AAHdqTcvCH1vGWJ|9fQ2mZx7Lk0p/);
      // Redacting again changes nothing: nothing was left that a rule finds.
      expect(redactor.text(shown)).toBe(shown);
    }
    expect(unchanged).toBeGreaterThan(100);
  });

  it.each(SHAPES)('blanks %j alone, at the start, in the middle and at the end', (shape) => {
    const redactor = createRedactor();
    for (const text of [shape, `${shape} end`, `before ${shape} after`, `before ${shape}`, `${'x'.repeat(5_000)} ${shape}`]) {
      const shown = redactor.text(text);
      expect(shown).toContain(REDACTED);
      expect(shown).not.toMatch(/hunter2hunter2|dBjftJeZ4CVP|AAHdqTcvCH1vGWJ|9fQ2mZx7Lk0p/);
    }
  });

  it.each(HARMLESS)('leaves %j as it is', (text) => {
    expect(createRedactor(['panelkey-58f1c0']).text(text)).toBe(text);
  });
});

describe('redaction of an object', () => {
  it('blanks the value of a secret key wherever it stands, also when the key was seen before', () => {
    const { value } = createRedactor();
    for (let round = 0; round < 3; round += 1) {
      expect(value({ a: { apiKey: 'x', list: [{ Refresh_Token: { deep: 1 } }] }, tokenPrefix: 'sst' })).toEqual({
        a: { apiKey: REDACTED, list: [{ Refresh_Token: REDACTED }] },
        tokenPrefix: 'sst',
      });
    }
  });

  it('shows an object that stands twice side by side, and cuts one inside itself', () => {
    const { value } = createRedactor();
    const shared = { n: 1 };
    const loop: Record<string, unknown> = { shared };
    loop.again = [loop, { loop }];
    expect(value({ a: shared, b: [shared, shared], loop })).toEqual({
      a: { n: 1 },
      b: [{ n: 1 }, { n: 1 }],
      loop: { shared: { n: 1 }, again: ['[circular]', { loop: '[circular]' }] },
    });
  });

  it('cuts below eight levels, however the levels are made', () => {
    const { value } = createRedactor();
    const nest = (levels: number): unknown => (levels === 0 ? 'end' : { next: nest(levels - 1) });
    expect(JSON.stringify(value(nest(8)))).toContain('end');
    expect(JSON.stringify(value(nest(9)))).toContain('[too deep]');
    const asJson = (levels: number): unknown => (levels === 0 ? 'end' : { toJSON: () => asJson(levels - 1) });
    expect(value(asJson(8))).toBe('end');
    expect(value(asJson(9))).toBe('[too deep]');
  });
});

describe('isSecretKey', () => {
  it('judges every spelling alike, more of them than are remembered, and twice', () => {
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 3_000; index += 1) {
        expect(isSecretKey(`field${index}_password`)).toBe(true);
        expect(isSecretKey(`field${index}_passwordLength`)).toBe(false);
      }
      expect(isSecretKey(`${'x'.repeat(500)}-Token`)).toBe(true);
    }
  });
});
