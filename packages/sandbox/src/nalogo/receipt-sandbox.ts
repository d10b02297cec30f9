import { randomUUID } from 'node:crypto';
import type { SandboxStore } from '../host-ports.ts';
import {
  jsonObject,
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';

const STATE_KEY = 'receipts';
const TOKEN_LIFE_MS = 60 * 60 * 1_000;

export interface ReceiptSandboxOptions {
  store: SandboxStore;
  inn: string;
  /** The password of the account. */
  secret: string;
  /** The service clock. */
  now: () => Date;
  port?: number;
}

export interface ReceiptSandbox {
  server: LoopbackServer;
  faults: ReceiptFaults;
  /** Requests since the start, oldest first: `POST /income` … */
  calls: string[];
  /** Newest first. */
  list(): Promise<SandboxIncome[]>;
  /** Every token that it has given. */
  tokens(): Promise<string[]>;
  /** What the owner of the account does in the service's own app. */
  cancelByHand(uuid: string): Promise<void>;
  close(): Promise<void>;
}

interface State {
  incomes: SandboxIncome[];
  /** Tokens that are accepted, and tokens for refreshing, with the time when they end. */
  tokens: Record<string, string>;
  refreshTokens: Record<string, string>;
}

/** The fake of the tax service for the self-employed on loopback, with the paths of the real one (03a section 15). */
export async function startReceiptSandbox(options: ReceiptSandboxOptions): Promise<ReceiptSandbox> {
  const { now } = options;
  const empty = (): State => ({ incomes: [], tokens: {}, refreshTokens: {} });
  const state = new StoredState<State>(options.store, STATE_KEY, empty);
  const faults: ReceiptFaults = { next: [], isDown: false };
  const calls: string[] = [];

  const newTokens = (): Promise<LoopbackReply> =>
    state.update((stored) => {
      const [token, refreshToken] = [randomUUID(), randomUUID()];
      const end = new Date(now().getTime() + TOKEN_LIFE_MS).toISOString();
      stored.tokens[token] = end;
      stored.refreshTokens[refreshToken] = end;
      const profile = { inn: options.inn };
      return jsonReply(200, { token, tokenExpireIn: end, refreshToken, refreshTokenExpiresIn: null, profile });
    });

  const signIn = async (body: Record<string, unknown>): Promise<LoopbackReply> => {
    const device = readSignIn(body);
    if (device === null) return refusal(400, 'validation.failed', 'deviceInfo');
    if (body.username !== options.inn || body.password !== options.secret)
      return refusal(401, 'auth.failed', 'The user name or the password is wrong');
    return newTokens();
  };

  const refresh = async (body: Record<string, unknown>): Promise<LoopbackReply> => {
    const isKnown = await state.update((stored) => {
      const known = typeof body.refreshToken === 'string' && Object.hasOwn(stored.refreshTokens, body.refreshToken);
      if (known) delete stored.refreshTokens[body.refreshToken as string];
      return known;
    });
    return isKnown ? newTokens() : refusal(401, 'auth.failed', 'The refresh token is not known');
  };

  const addIncome = async (body: Record<string, unknown>): Promise<LoopbackReply> => {
    const income = readIncome(body, now());
    if ('problem' in income) return refusal(400, 'validation.failed', income.problem);
    const uuid = `20${randomUUID().replaceAll('-', '').slice(0, 8)}`;
    await state.update(({ incomes }) => void incomes.push({ ...income, uuid, cancellation: null }));
    return jsonReply(200, { approvedReceiptUuid: uuid });
  };

  const cancel = (uuid: unknown, comment: unknown): Promise<LoopbackReply> =>
    state.update(({ incomes }) => {
      const income = incomes.find((candidate) => candidate.uuid === uuid);
      if (!income) return refusal(404, 'receipt.not.found', 'There is no such receipt');
      if (income.cancellation) return refusal(400, 'receipt.already.cancelled', 'The receipt is cancelled');
      income.cancellation = { comment: String(comment), at: now().toISOString() };
      return jsonReply(200, { incomeInfo: wireIncome(income) });
    });

  const listIncomes = async ({ query }: LoopbackRequest): Promise<LoopbackReply> => {
    const [from, to] = [new Date(query.get('from') ?? ''), new Date(query.get('to') ?? '')];
    const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 50)];
    if ([from.getTime(), to.getTime(), offset, limit].some(Number.isNaN)) return refusal(400, 'validation.failed', 'query');
    const { incomes } = await state.read();
    const found = incomes.filter(({ operationTime }) => new Date(operationTime) >= from && new Date(operationTime) <= to);
    return jsonReply(200, {
      content: found
        .toReversed()
        .slice(offset, offset + limit)
        .map(wireIncome),
    });
  };

  const isSignedIn = async ({ headers }: LoopbackRequest): Promise<boolean> => {
    const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
    const { tokens } = await state.read();
    return Object.hasOwn(tokens, token) && new Date(tokens[token]!) > now();
  };

  const answer = async (request: LoopbackRequest): Promise<LoopbackReply> => {
    const body = jsonObject(request.body) ?? {};
    const call = `${request.method} ${request.path}`;
    if (call === 'POST /auth/lkfl') return signIn(body);
    if (call === 'POST /auth/token') return refresh(body);
    if (!(await isSignedIn(request))) return refusal(401, 'auth.required', 'The token is not known');
    if (call === 'POST /income') return addIncome(body);
    if (call === 'POST /cancel') return cancel(body.receiptUuid, body.comment);
    return call === 'GET /incomes' ? listIncomes(request) : refusal(404, 'not.found', 'There is no such path');
  };

  const server = await startLoopbackServer(async (request) => {
    const call = `${request.method} ${request.path}`;
    calls.push(call);
    if (faults.isDown) return PAGES.unavailable;
    const at = faults.next.findIndex((fault) => fault.call === call);
    const [fault] = at < 0 ? [] : faults.next.splice(at, 1);
    return fault ? failing(fault, () => answer(request)) : answer(request);
  }, options.port);

  return {
    server,
    faults,
    calls,
    list: async () => (await state.read()).incomes.toReversed(),
    tokens: async () => Object.keys((await state.read()).tokens),
    cancelByHand: async (uuid) => void (await cancel(uuid, 'Чек сформирован ошибочно')),
    close: () => server.close(),
  };
}

const PAGES = {
  unavailable: { status: 503, contentType: 'text/html', body: '<html>Service unavailable</html>' },
  html: { status: 200, contentType: 'text/html', body: '<html>Works are in progress</html>' },
} as const satisfies Record<string, LoopbackReply>;

async function failing({ fault, hook }: ReceiptFault, answer: () => Promise<LoopbackReply>): Promise<LoopbackReply> {
  switch (fault) {
    case 'unauthorized':
      return refusal(401, 'auth.required', 'The token has ended');
    case 'refused':
      return refusal(422, 'taxpayer.income.limit', 'The limit of the year is reached');
    case 'html':
      return PAGES.html;
    case 'unavailable':
      return PAGES.unavailable;
    case 'lost_before':
      return { ...PAGES.unavailable, isCut: true };
    case 'lost_after': {
      await answer();
      return { ...PAGES.unavailable, isCut: true };
    }
    case 'hook': {
      const reply = await answer();
      await hook?.();
      return reply;
    }
  }
}

function refusal(status: number, code: string, message: string): LoopbackReply {
  return jsonReply(status, { code, message });
}

/**
 * How one call fails. `lost_before`: the connection is cut before the call had an effect; `lost_after`: afterwards, so the effect is there and
 * the answer is not. `hook`: the call succeeds, and `hook` runs before its answer is sent.
 */
interface ReceiptFault {
  /** Method and path: `POST /income`. */
  call: string;
  fault: 'unauthorized' | 'refused' | 'html' | 'unavailable' | 'lost_before' | 'lost_after' | 'hook';
  hook?: () => Promise<void>;
}

/** Faults of the fake tax service, for trying the service. */
interface ReceiptFaults {
  /** Each fault is used by the next call that it names. */
  next: ReceiptFault[];
  /** Every call is answered with 503. */
  isDown: boolean;
}

/** An income as the fake tax service stores it. */
export interface SandboxIncome {
  uuid: string;
  name: string;
  /** As text with two decimals. */
  totalAmount: string;
  /** As sent: ISO 8601 with the offset of Moscow. */
  operationTime: string;
  cancellation: { comment: string; at: string } | null;
}

const MOSCOW_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+03:00$/;

/** The device of a sign-in; null where the body names none. */
function readSignIn(body: Record<string, unknown>): string | null {
  const info = body.deviceInfo as { sourceDeviceId?: unknown; sourceType?: unknown } | undefined;
  const id = info?.sourceDeviceId;
  return info?.sourceType === 'WEB' && typeof id === 'string' && id.length === 21 ? id : null;
}

/** The body of an income, validated as far as the real service is known to do. */
function readIncome(
  body: Record<string, unknown>,
  now: Date,
): Omit<SandboxIncome, 'uuid' | 'cancellation'> | { problem: string } {
  const { operationTime, requestTime, totalAmount, services } = body;
  for (const time of [operationTime, requestTime])
    if (typeof time !== 'string' || !MOSCOW_TIME.test(time)) return { problem: 'time' };
  // A minute for clocks that differ.
  if (new Date(operationTime as string).getTime() > now.getTime() + 60_000) return { problem: 'operationTime' };
  if (typeof totalAmount !== 'string' || !/^\d{1,9}\.\d{2}$/.test(totalAmount)) return { problem: 'totalAmount' };
  const [service, ...others] = Array.isArray(services) ? (services as Record<string, unknown>[]) : [];
  if (!service || others.length > 0 || service.quantity !== 1 || service.amount !== Number(totalAmount))
    return { problem: 'services' };
  const { name } = service;
  if (typeof name !== 'string' || name.trim() === '' || name.length > 256) return { problem: 'name' };
  return { name, totalAmount, operationTime: operationTime as string };
}

function wireIncome({ uuid, name, totalAmount, operationTime, cancellation }: SandboxIncome) {
  return {
    approvedReceiptUuid: uuid,
    name,
    services: [{ name, quantity: 1, amount: Number(totalAmount) }],
    totalAmount: Number(totalAmount),
    operationTime,
    cancellationInfo: cancellation && { comment: cancellation.comment, operationTime: cancellation.at },
  };
}
