/**
 * The bare baseline that the service is measured against (docs/performance.md): `node:http` and `pg` (or the embedded database) and nothing else. It runs the service's SQL
 * and answers with the same bytes, checks no credential, validates nothing and writes no log; writes are one statement by hand.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyPassword } from '../../../../src/core/password-hasher.ts';
import { type BareQuery, openBare } from './bare-database.ts';
import { ADJUST_BALANCE, AUDIT_READ, PURCHASE, STORE_CALLBACK } from './bare-statements.ts';
import { answerQuestions } from './child-process.ts';
import { type RecordedSql, recordSql } from './recorded-sql.ts';
import {
  type AccountRow,
  type ListedRow,
  type TransactionRow,
  toAccountJson,
  toListedJson,
  toTransactionJson,
  toUserJson,
  type UserRow,
} from './wire-json.ts';

export interface BaselineOrder {
  /** Address of a server, or folder of an embedded database. */
  database: { url: string; poolSize: number } | { dataDir: string };
  callbackSecret: string;
}

type Handler = (request: IncomingMessage, url: URL) => Promise<string>;

async function start(order: BaselineOrder): Promise<{ url: string }> {
  const query = await openBare(order.database);
  const handlers = await routes(query, order.callbackSecret);
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    const handler = handlers[`${request.method} /${url.pathname.split('/')[1]}`];
    if (!handler) {
      response.writeHead(404).end();
      return;
    }
    handler(request, url).then(
      (body) => {
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) });
        response.end(body);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** By method and first part of the path: the baseline knows a path of each kind. */
async function routes(query: BareQuery, callbackSecret: string): Promise<Record<string, Handler>> {
  const sql = await recordSql();
  return {
    'GET /user': async (_request, url) => {
      const id = Number(url.pathname.split('/')[2]);
      const [row] = await query<UserRow>(sql.userByEitherId, [id, id]);
      return JSON.stringify(toUserJson(row!));
    },
    'GET /balance': async (_request, url) => {
      const [row] = await query<{ balance_kopeks: number }>(sql.userById, [Number(url.pathname.split('/')[2])]);
      return JSON.stringify({ balance_kopeks: row!.balance_kopeks, balance_rubles: row!.balance_kopeks / 100 });
    },
    'GET /me': async (_request, url) => {
      const [row] = await query<AccountRow>(sql.userById, [Number(url.pathname.split('/')[2])]);
      return JSON.stringify(toAccountJson(row!));
    },
    'GET /listed': async (_request, url) => {
      // The answer does not wait for the row, as in the service.
      query(AUDIT_READ, [Number(url.pathname.split('/')[2]), new Date()]).catch(exitWith);
      const [counts] = await query<{ listed: number }>(sql.countByStatus, [null]);
      const rows = await query<ListedRow>(sql.usersForAdmin, []);
      return JSON.stringify({ users: rows.map(toListedJson), total: counts!.listed, offset: 0, limit: 50 });
    },
    'POST /login': async (request) => signIn(query, sql, JSON.parse(await textOf(request))),
    'GET /users': async () => {
      const [counts] = await query<{ listed: number }>(sql.countUsers, []);
      const rows = await query<UserRow>(sql.newestUsers, []);
      return JSON.stringify({ items: rows.map(toUserJson), total: counts!.listed, limit: 50, offset: 0 });
    },
    'GET /transactions': async () => {
      const [rows, [counts]] = await Promise.all([
        query<TransactionRow>(sql.newestTransactions, []),
        query<{ total: number }>(sql.countTransactions, []),
      ]);
      return JSON.stringify({ items: rows.map(toTransactionJson), total: counts!.total, limit: 50, offset: 0 });
    },
    'POST /adjust': async (request, url) => {
      const text = await textOf(request);
      const body = JSON.parse(text) as { amount_kopeks: number; description: string };
      const values = [Number(url.pathname.split('/')[2]), body.amount_kopeks, body.description, new Date()];
      return answerOf(await query<Stored>(ADJUST_BALANCE, [...values, ...guardOf(request, text)]));
    },
    'POST /purchase': async (request, url) => {
      const text = await textOf(request);
      const body = JSON.parse(text) as { tariff_id: number; period_days: number };
      const values = [Number(url.pathname.split('/')[2]), body.tariff_id, body.period_days, new Date()];
      return answerOf(await query<Stored>(PURCHASE, [...values, ...guardOf(request, text)]));
    },
    'POST /callback': async (request) => {
      const text = await textOf(request);
      if (createHmac('sha256', callbackSecret).update(text).digest('hex') !== request.headers['x-sandbox-signature'])
        throw new Error('signature');
      const event = JSON.parse(text) as { event_id: string; invoice: { id: string } };
      await query(STORE_CALLBACK, [event.event_id, event.invoice.id, text, JSON.stringify(request.headers), new Date()]);
      return '{"status":"ok"}';
    },
  };
}

function exitWith(error: unknown): never {
  console.error(error);
  process.exit(1);
}

/** The stored answer of a write. */
interface Stored {
  response: object;
}

/** @throws Error when the statement changed nothing: then the baseline would be fast because it did no work */
function answerOf([row]: Stored[]): string {
  if (!row) throw new Error('nothing was written');
  return JSON.stringify(row.response);
}

/** What a row of `idempotency_keys` needs: actor, key, hash of the body. */
function guardOf(request: IncomingMessage, body: string): string[] {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') throw new Error('no Idempotency-Key');
  return ['bare', key, createHash('sha256').update(body).digest('hex')];
}

/** Checks the password as the service does, because that is the main cost of a sign-in, and stores one session. */
async function signIn(query: BareQuery, sql: RecordedSql, { email, password }: { email: string; password: string }) {
  const [user] = await query<{ id: number; password_hash: string }>(sql.passwordUser, [email]);
  if (!(await verifyPassword(password, user?.password_hash ?? null))) throw new Error('password');
  const now = new Date();
  const [access, refresh] = [bareToken(user!.id, 'access'), bareToken(user!.id, 'refresh')];
  const refreshHash = createHash('sha256').update(refresh).digest('hex');
  const expiresAt = new Date(now.getTime() + 7 * 86_400_000);
  const [stored] = await query(sql.insertSession, [
    user!.id,
    refreshHash,
    randomUUID(),
    null,
    expiresAt,
    now,
    null,
    null,
    false,
    true,
    null,
  ]);
  if (!stored) throw new Error('no session was stored');
  const [row] = await query<AccountRow>(sql.userById, [user!.id]);
  const tokens = { access_token: access, refresh_token: refresh, token_type: 'bearer', expires_in: 900 };
  return JSON.stringify({ ...tokens, user: toAccountJson(row!) });
}

function bareToken(userId: number, type: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(Date.now() / 1000);
  const body = `${part({ alg: 'HS256' })}.${part({ sub: String(userId), type, iat: seconds, exp: seconds + 900, jti: randomUUID() })}`;
  return `${body}.${createHmac('sha256', 'bare').update(body).digest('base64url')}`;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

answerQuestions<BaselineOrder>(start);
