import { describe, expect, it } from 'vitest';
import { isConnectionLost, isDatabaseUnavailable, isRetryable } from '../../../src/core/db/db-errors.ts';
import { toHttp } from '../../../src/core/errors.ts';

/** As node-postgres and PGlite throw it, and as Prisma wraps it. */
const shapesOf = (code: string): Error[] => [
  Object.assign(new Error('failed'), { code }),
  Object.assign(new Error('failed'), {
    code: 'P2010',
    meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: code } } },
  }),
];

/** An error of the driver adapter that Prisma passes on as it is. */
function adapterError(kind: string): Error {
  return Object.assign(new Error(kind), { name: 'DriverAdapterError', cause: { kind } });
}

it.each(['40P01', '40001'])('a transaction that met others each time is 503: %s', (code) => {
  for (const error of shapesOf(code)) expect(toHttp(error)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
});

describe('a database that is unavailable or does not answer in time', () => {
  it.each(['ECONNREFUSED', 'P2024', '08006', '57P01', '53100', '53200', '53300', '53400', '58030', '57014', '55P03', '25006'])(
    'is 503 for a request: %s',
    (code) => {
      for (const error of shapesOf(code).slice(0, /^(E|P)/.test(code) ? 1 : 2)) {
        expect(isDatabaseUnavailable(error)).toBe(true);
        expect(toHttp(error)).toMatchObject({
          status: 503,
          body: { detail: 'Service temporarily unavailable. Please try again later.' },
          headers: { 'Retry-After': '5' },
        });
      }
    },
  );

  it('spec 10 F3: an internal error is 503 where the server gives no session, and our own 500 within one', () => {
    const [raw, wrapped] = shapesOf('XX000');
    const ofPrisma = (severity: string) =>
      Object.assign(new Error('failed'), {
        code: 'P2010',
        meta: { driverAdapterError: { cause: { kind: 'postgres', originalCode: 'XX000', severity } } },
      });
    for (const severity of ['FATAL', 'PANIC']) {
      expect(toHttp(Object.assign(new Error('failed'), { code: 'XX000', severity })).status).toBe(503);
      expect(toHttp(ofPrisma(severity)).status).toBe(503);
    }
    for (const error of [
      raw,
      wrapped,
      ofPrisma('ERROR'),
      Object.assign(new Error('failed'), { code: 'XX000', severity: 'ERROR' }),
    ])
      expect(toHttp(error).status).toBe(500);
  });

  it.each(['Client has encountered a connection error and is not queryable', 'Connection terminated unexpectedly'])(
    'spec 08 L3: a session that was cut is 503: %s',
    (message) => {
      expect(toHttp(new Error(message)).status).toBe(503);
      expect(toHttp(Object.assign(new Error(`Raw query failed: ${message}`), { code: 'P2010' })).status).toBe(503);
    },
  );

  /** As observed on the installed versions, by cutting the connection at each point. */
  const LOST: [string, Error][] = [
    [
      'a statement of the pool, cut',
      Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    ],
    ['a crashed server', Object.assign(new Error('terminating connection because of crash'), { code: '57P02' })],
    ['a server that starts', Object.assign(new Error('the database system is starting up'), { code: '57P03' })],
    ['a session that waited in a transaction', Object.assign(new Error('terminating connection'), { code: '25P03' })],
    ['a pooler without a server', Object.assign(new Error('server conn crashed?'), { code: '08P01' })],
    ['BEGIN on a reset connection', Object.assign(new Error('Server has closed the connection.'), { code: 'P1017' })],
    ['COMMIT on a reset connection', adapterError('ConnectionClosed')],
    ['COMMIT on a closed connection', new Error('Connection terminated unexpectedly')],
    ['the next statement on a cut session', new Error('Client has encountered a connection error and is not queryable')],
    ['a write to a reset connection', Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET' })],
    ['a transaction while the server is away', Object.assign(new Error("Can't reach database server"), { code: 'P1001' })],
    [
      'a raw query of Prisma while the server is away',
      Object.assign(new Error('Raw query failed. Code: `N/A`'), {
        code: 'P2010',
        meta: { driverAdapterError: adapterError('DatabaseNotReachable') },
      }),
    ],
    ['a name that leads nowhere', Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })],
    ['a write on a demoted node', Object.assign(new Error('cannot execute INSERT'), { code: '25006' })],
  ];
  it.each(LOST)('spec 08 L3, S1: is 503, and another session may do better: %s', (_name, error) => {
    expect(toHttp(error)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
    expect(isConnectionLost(error)).toBe(true);
  });

  const SLOW: [string, Error][] = [
    ['a full pool', new Error('timeout exceeded when trying to connect')],
    ['a server that does not accept in time', new Error('Connection terminated due to connection timeout')],
    ['a full server', Object.assign(new Error('sorry, too many clients already'), { code: '53300' })],
    ['a full server, by Prisma', Object.assign(new Error('Too many database connections opened'), { code: 'P2037' })],
    ['a statement that took too long', Object.assign(new Error('canceling statement'), { code: '57014' })],
    ['a lock that was waited for too long', Object.assign(new Error('canceling statement'), { code: '55P03' })],
    ['a transaction that took too long', Object.assign(new Error('Transaction already closed'), { code: 'P2028' })],
    ['a socket that timed out', adapterError('SocketTimeout')],
  ];
  it.each(SLOW)('is 503 but nothing that a second attempt improves: %s', (_name, error) => {
    expect(toHttp(error)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
    expect(isConnectionLost(error)).toBe(false);
  });

  it.each(['57014', '55P03'])('is not begun again by the transaction itself: %s', (code) => {
    for (const error of shapesOf(code)) expect(isRetryable(error)).toBe(false);
  });

  it.each(['23514', '23505', '42P01', '22001'])('is not what a refused statement means: %s', (code) => {
    for (const error of shapesOf(code)) expect(toHttp(error).status).toBe(500);
  });
});
