import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { timestampOf } from '../../../src/core/db/timestamps.ts';

const driver = pg.types.getTypeParser(1184, 'text') as (text: string) => Date;

describe('momentOf', () => {
  it.each([
    '2026-11-22 10:11:12+00',
    '2026-11-22 10:11:12.1+00',
    '2026-11-22 10:11:12.12+00',
    '2026-11-22 10:11:12.123+00',
    '2026-11-22 10:11:12.9999+00',
    '2026-11-22 10:11:12.123456+00',
    '2024-02-29 23:59:59.999999+00',
    '1969-12-31 23:59:59.5+00',
    '0100-01-01 00:00:00+00',
    '0099-12-31 00:00:00.25+00',
    '0001-01-01 00:00:00+00',
    '12026-11-22 10:11:12+00',
    '2026-11-22 10:11:12.5+03',
    '2026-11-22 10:11:12-09:30',
    '2026-11-22 10:11:12+00:19:32',
    '0044-03-15 12:00:00+00 BC',
    'infinity',
    '-infinity',
  ])('reads %s as the driver does', (text) => {
    expect(timestampOf(text)).toEqual(driver(text));
  });

  it('reads every fraction as the driver does', () => {
    for (let digits = 1; digits <= 6; digits += 1) {
      for (let step = 0; step < 10 ** digits; step += digits < 5 ? 1 : 37) {
        const text = `2026-11-22 10:11:12.${String(step).padStart(digits, '0')}+00`;
        if (timestampOf(text).getTime() !== driver(text).getTime()) expect.fail(text);
      }
    }
  });

  it('reads timestamps of eight thousand years', () => {
    for (let time = Date.UTC(1000, 0); time < Date.UTC(9000, 0); time += 1_065_312_347) {
      const text = `${new Date(time).toISOString().replace('T', ' ').replace('Z', '')}+00`;
      if (timestampOf(text).getTime() !== time) expect.fail(text);
    }
  });
});
