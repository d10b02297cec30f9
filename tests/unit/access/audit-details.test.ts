import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { auditDetails } from '../../../src/domain/access/audit-log.ts';

const SECRET = 'shop-secret-0123456789';
const app = { settings: { get: (key: string) => (key === 'YOOKASSA_SECRET_KEY' ? SECRET : null) } } as unknown as App;
const detailsOf = (details: Record<string, unknown>) => auditDetails(app, details);

describe('spec 01 H7: secrets and sizes in audit details', () => {
  it('redacts values under a secret name, at any depth', () => {
    const { request_body: body } = detailsOf({
      request_body: {
        password: 'p1',
        api_key: 'k1',
        secretKey: 's1',
        nested: [{ refresh_token: 't1', private_key: 'x', comment: 'stays' }],
        YOOKASSA_SECRET_KEY: 'y',
        empty: { password: null },
      },
    });
    expect(body).toEqual({
      password: '[redacted]',
      api_key: '[redacted]',
      secretKey: '[redacted]',
      nested: [{ refresh_token: '[redacted]', private_key: '[redacted]', comment: 'stays' }],
      YOOKASSA_SECRET_KEY: '[redacted]',
      empty: { password: null },
    });
  });

  it('blanks the value beside a key that names a secret setting, and no other', () => {
    expect(detailsOf({ request_body: { key: 'BOT_TOKEN', value: 'brand new' } })).toEqual({
      request_body: { key: 'BOT_TOKEN', value: '[redacted]' },
    });
    expect(detailsOf({ request_body: { key: 'SALES_MODE', value: 'classic' } })).toEqual({
      request_body: { key: 'SALES_MODE', value: 'classic' },
    });
  });

  it('redacts values of secret settings and texts in the form of a token at any place', () => {
    const text = JSON.stringify(
      detailsOf({ before: { comment: `is ${SECRET}` }, after: ['Bearer abcdefghijkl', 'sst_abcdefgh'] }),
    );
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('abcdefgh');
  });

  it('keeps the whole within 16 KiB and cuts long texts', () => {
    const long = detailsOf({ method: 'PUT', request_body: { text: 'a'.repeat(5_000) } });
    expect((long.request_body as { text: string }).text).toMatch(/^a{2000}… \[5000 characters\]$/);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`field_${n}`, 'b'.repeat(1_900)]));
    const cut = detailsOf({ method: 'PUT', request_body: many, before: many, after: { name: 'small' } });
    expect(JSON.stringify(cut).length).toBeLessThanOrEqual(16_384);
    expect(cut).toMatchObject({ method: 'PUT', after: { name: 'small' } });
    expect(cut.request_body).toMatch(/^\[left out: \d+ characters\]$/);
  });

  it('removes what the database cannot store', () => {
    expect(detailsOf({ request_body: { text: 'a\u0000b\ud800c' } })).toEqual({ request_body: { text: 'ab\ufffdc' } });
  });
});
