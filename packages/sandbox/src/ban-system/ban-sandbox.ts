import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxStore } from '../host-ports.ts';
import {
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';
import { answerTo } from './ban-answers.ts';
import type { BanFaults } from './ban-faults.ts';
import { type BanState, firstState, settingValue } from './ban-state.ts';

const STATE_KEY = 'ban_system';
const MINUTE_MS = 60_000;
/** A hundred years, so that every length has an end that is a date. */
const MAX_MINUTES = 52_560_000;

export interface BanSandboxOptions {
  store: SandboxStore;
  /** The bearer token that it accepts. */
  token: string;
  /** The service clock. */
  now: () => Date;
}

export interface BanSandbox {
  server: LoopbackServer;
  faults: BanFaults;
  /** Requests since the start, oldest first, with path and query as they came. */
  calls: { method: string; path: string; query: string; headers: Readonly<Record<string, string>>; body: string }[];
  state(): Promise<BanState>;
  close(): Promise<void>;
}

/** The fake ban system on loopback, with the paths of the real one (spec 06 section 13). */
export async function startBanSandbox(options: BanSandboxOptions): Promise<BanSandbox> {
  const state = new StoredState<BanState>(options.store, STATE_KEY, firstState);
  const faults: BanFaults = { byCall: new Map(), every: null };
  const calls: BanSandbox['calls'] = [];

  const answer = async ({ method, path, query, headers }: LoopbackRequest): Promise<LoopbackReply> => {
    const segments = path.split('/').slice(1).map(decodeURIComponent);
    if (segments[0] !== 'health' && headers.authorization !== `Bearer ${options.token}`)
      return jsonReply(401, { detail: 'Invalid token' });
    const now = options.now();
    const value =
      method === 'GET'
        ? answerTo(await state.read(), segments, query, now)
        : await state.update((stored) => change(stored, segments, query, now));
    return value === undefined ? jsonReply(404, { detail: 'Not Found' }) : jsonReply(200, value);
  };

  const server = await startLoopbackServer(async (request) => {
    const { method, path, query, headers, body } = request;
    calls.push({ method, path, query: query.toString(), headers, body });
    const fault = faults.byCall.get(`${method} ${path}`) ?? faults.every;
    if (fault?.delayMs) await wait(fault.delayMs);
    if (fault?.isCut) return { status: 503, contentType: 'text/plain', body: '', isCut: true };
    if (fault?.reply) return { contentType: 'application/json', ...fault.reply };
    return answer(request);
  });

  return { server, faults, calls, state: () => state.read(), close: () => server.close() };
}

/** Carries out a command; undefined for an unknown one. */
function change(state: BanState, [, first, second = '', third]: string[], query: URLSearchParams, now: Date): unknown {
  if (first === 'ban') return ban(state, query, now);
  if (first === 'punishments' && third === 'enable') {
    const waiting = state.punishments.filter(({ user_id, enabled }) => user_id === second && !enabled);
    for (const punishment of waiting) Object.assign(punishment, { enabled: true, enabled_at: now.toISOString() });
    return waiting.length > 0 ? { success: true } : undefined;
  }
  if (first !== 'settings') return undefined;
  if (second === 'whitelist') {
    const username = query.get('username') ?? '';
    state.whitelist = state.whitelist.filter((name) => name !== username);
    if (third === 'add') state.whitelist.push(username);
    return { success: true };
  }
  const setting = state.settings[second];
  if (!setting) return undefined;
  setting.value = third === 'toggle' ? !setting.value : settingValue(setting.type, query.get('value') ?? '');
  // The answer to a change does not say the value.
  return third === 'toggle' ? setting : { success: true };
}

function ban(state: BanState, query: URLSearchParams, now: Date): unknown {
  const username = query.get('username') ?? '';
  const user = state.users[username];
  const id = state.nextId;
  state.nextId += 1;
  state.punishments.push({
    id,
    user_id: `user-${id}`,
    username,
    reason: query.get('reason'),
    punished_at: now.toISOString(),
    enable_at: new Date(now.getTime() + Math.min(Number(query.get('minutes')), MAX_MINUTES) * MINUTE_MS).toISOString(),
    ip_count: user?.unique_ip_count ?? 0,
    limit: user?.limit ?? 0,
    enabled: false,
    enabled_at: null,
    node_name: null,
  });
  return { success: true };
}
