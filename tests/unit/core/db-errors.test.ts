import { describe, expect, it } from 'vitest';
import { isDatabaseUnavailable, isRetryable } from '../../../src/core/db/db-errors.ts';
import { toHttp } from '../../../src/core/errors.ts';

/** As node-postgres and PGlite throw it, and as Prisma wraps it. */
const shapesOf = (code: string): Error[] => [
  Object.assign(new Error('failed'), { code }),
  Object.assign(new Error('failed'), {
    code: 'P2010',
    meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: code } } },
  }),
];

describe('a database that is unavailable or does not answer in time', () => {
  it.each(['ECONNREFUSED', 'P2024', '08006', '57P01', '53300', '57014', '55P03', '25006'])('is 503 for a request: %s', (code) => {
    for (const error of shapesOf(code).slice(0, /^(E|P)/.test(code) ? 1 : 2)) {
      expect(isDatabaseUnavailable(error)).toBe(true);
      expect(toHttp(error)).toMatchObject({
        status: 503,
        body: { detail: 'Service temporarily unavailable. Please try again later.' },
        headers: { 'Retry-After': '5' },
      });
    }
  });

  it.each(['Client has encountered a connection error and is not queryable', 'Connection terminated unexpectedly'])(
    'spec 08 L3: a session that was cut is 503: %s',
    (message) => {
      expect(toHttp(new Error(message)).status).toBe(503);
      expect(toHttp(Object.assign(new Error(`Raw query failed: ${message}`), { code: 'P2010' })).status).toBe(503);
    },
  );

  it.each(['57014', '55P03'])('is not begun again by the transaction itself: %s', (code) => {
    for (const error of shapesOf(code)) expect(isRetryable(error)).toBe(false);
  });

  it.each(['23514', '23505', '42P01', '22001'])('is not what a refused statement means: %s', (code) => {
    for (const error of shapesOf(code)) expect(toHttp(error).status).toBe(500);
  });
});
