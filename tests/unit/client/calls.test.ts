import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CabinetError } from '../../../packages/client/src/cabinet-error.ts';
import { type CabinetClientOptions, createClient } from '../../../packages/client/src/create-client.ts';
import { memoryTokenStore, storageTokenStore, type TokenStore } from '../../../packages/client/src/token-store.ts';
import { startTrialService, TRIAL_FACTS, type TrialApi, type TrialService } from './trial-service.ts';

let service: TrialService;
let store: TokenStore;
let signedOut: number;

beforeEach(async () => {
  service = await startTrialService();
  store = memoryTokenStore({ accessToken: 'access-1', refreshToken: 'refresh-1' });
  signedOut = 0;
});
afterEach(() => service.stop());

function connect(change: Partial<CabinetClientOptions> = {}) {
  const onSignedOut = () => {
    signedOut += 1;
  };
  const client = createClient({ baseUrl: `${service.baseUrl}/`, tokens: store, onSignedOut, ...change }, TRIAL_FACTS);
  return { client, api: client.api as unknown as TrialApi };
}

async function failureOf(promise: Promise<unknown>): Promise<CabinetError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CabinetError);
  return error as CabinetError;
}

describe('calls', () => {
  it('sends the calls of one tick in one request', async () => {
    const { api } = connect();
    const answers = await Promise.all([1, 2, 3].map((id) => api.profile.name.query({ id })));
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(service.seen).toHaveLength(1);
  });

  it('splits what the service would refuse as too large a batch', async () => {
    const { api } = connect();
    await Promise.all(Array.from({ length: 45 }, (_, id) => api.profile.name.query({ id })));
    expect(service.seen).toHaveLength(3);
  });

  it('returns code, detail and fields of a refusal', async () => {
    const { api } = connect();
    const refusal = await failureOf(api.profile.rename.mutate({ name: 'taken' }));
    expect(refusal).toMatchObject({ status: 409, code: 'name_taken', message: 'Taken', fieldErrors: [] });
    expect(refusal.detail).toEqual({ code: 'name_taken', message: 'Taken', suggestion: 'taken2', error_code: 'name_taken' });
    const invalid = await failureOf(api.profile.rename.mutate({ name: 'ab', tags: ['x', 7 as unknown as string] }));
    expect(invalid).toMatchObject({ status: 422, code: 'validation_error' });
    expect(invalid.fieldErrors.map(({ path, type }) => [path, type])).toEqual([
      ['name', 'string_too_short'],
      ['tags.1', 'string_type'],
    ]);
    expect(invalid.fieldErrors[0]?.bounds).toEqual({ min_length: 3 });
  });

  it('distinguishes a missing answer from a refusal', async () => {
    const { api } = connect({ baseUrl: 'http://127.0.0.1:9' });
    expect(await failureOf(api.profile.rename.mutate({ name: 'abc' }))).toMatchObject({ status: 0, code: 'network_error' });
    service.knobs.failures503 = 3;
    const broken = await failureOf(connect().api.profile.name.query({ id: 1 }));
    expect(broken).toMatchObject({ status: 503, code: 'bad_answer', isTransient: true });
  });

  it('stops when aborted and when it takes too long', async () => {
    const giveUp = new AbortController();
    const call = failureOf(connect().api.profile.slow.query(undefined, { signal: giveUp.signal }));
    giveUp.abort();
    expect((await call).code).toBe('aborted');
    expect((await failureOf(connect({ timeoutMs: 40 }).api.profile.slow.query())).code).toBe('timeout');
  });

  it('can be awaited by mistake without calling anything', async () => {
    const { client } = connect();
    expect(await Promise.resolve(client.api)).toBe(client.api);
    expect(service.seen).toHaveLength(0);
  });
});

describe('money mutations', () => {
  it('are sent in requests of their own with a key, and others without one', async () => {
    const { api } = connect();
    const [first, second] = await Promise.all([
      api.money.spend.mutate({ amount: 1 }),
      api.money.spend.mutate({ amount: 1 }),
      api.profile.name.query({ id: 1 }),
    ]);
    expect(first.key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(second.key).not.toBe(first.key);
    expect(service.seen).toHaveLength(3);
    expect(service.requestsTo('profile.name')[0]?.headers['idempotency-key']).toBeUndefined();
  });

  it('keep their key when the answer was lost and the call is sent again', async () => {
    service.knobs.cuts = 1;
    const { api } = connect();
    const answer = await api.money.spend.mutate({ amount: 5 });
    expect(service.spent).toEqual([
      { key: answer.key, amount: 5 },
      { key: answer.key, amount: 5 },
    ]);
  });

  it('keep their key when the token was refreshed in between', async () => {
    service.good.delete('access-1');
    const { api } = connect();
    const answer = await api.money.spend.mutate({ amount: 5 });
    expect(answer.bearer).toBe('access-2');
    const keys = service.requestsTo('money.spend').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([answer.key, answer.key]);
  });

  it('use the key of the caller, and errors contain it', async () => {
    const { api } = connect();
    expect((await api.money.spend.mutate({ amount: 1 }, { idempotencyKey: 'mine-1' })).key).toBe('mine-1');
    service.knobs.cuts = 9;
    const lost = await failureOf(api.money.spend.mutate({ amount: 2 }));
    expect(lost.code).toBe('network_error');
    expect(lost.idempotencyKey).toBe(service.spent.at(-1)?.key);
    expect(service.spent.filter(({ amount }) => amount === 2)).toHaveLength(3);
  });

  it('spec 10 U2: only sign-ins ask for a refresh token that rotates', async () => {
    const { api } = connect();
    await failureOf(api.session.login.mutate({ password: 'secret' }));
    await api.profile.rename.mutate({ name: 'abc' });
    expect(service.inputs).toEqual([{ password: 'secret', rotate_refresh_token: true }, { name: 'abc' }]);
  });

  it('are the only mutations that are sent again', async () => {
    service.knobs.cuts = 1;
    const { api } = connect();
    expect((await failureOf(api.profile.rename.mutate({ name: 'abc' }))).code).toBe('network_error');
    expect(service.seen).toHaveLength(1);
  });
});

describe('session', () => {
  it('refreshes once for many calls that were refused together', async () => {
    service.good.delete('access-1');
    const { api } = connect();
    const answers = await Promise.all([
      ...Array.from({ length: 25 }, (_, id) => api.profile.name.query({ id })),
      api.money.spend.mutate({ amount: 1 }),
      api.money.spend.mutate({ amount: 2 }),
    ]);
    expect(new Set(answers.map(({ bearer }) => bearer))).toEqual(new Set(['access-2']));
    expect(service.requestsTo('/cabinet/auth/refresh')).toHaveLength(1);
    expect(await store.get()).toEqual({ accessToken: 'access-2', refreshToken: 'refresh-2' });
    expect(signedOut).toBe(0);
  });

  it('refreshes once for two pages that share what is stored', async () => {
    service.good.delete('access-1');
    const texts = new Map<string, string>();
    const storage = {
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, text: string) => void texts.set(key, text),
      removeItem: (key: string) => void texts.delete(key),
    };
    await storageTokenStore(storage).set({ accessToken: 'access-1', refreshToken: 'refresh-1' });
    const pages = [connect({ tokens: storageTokenStore(storage) }), connect({ tokens: storageTokenStore(storage) })];
    const answers = await Promise.all(pages.map(({ api }, id) => api.profile.name.query({ id })));
    expect(answers.map(({ bearer }) => bearer)).toEqual(['access-2', 'access-2']);
    expect(service.requestsTo('/cabinet/auth/refresh')).toHaveLength(1);
  });

  it('does not refresh again for a call that comes late with the old token', async () => {
    const { client } = connect();
    await client.session.refresh('access-1');
    expect(await client.session.refresh('access-1')).toEqual({ accessToken: 'access-2', refreshToken: 'refresh-2' });
    expect(service.requestsTo('/cabinet/auth/refresh')).toHaveLength(1);
  });

  it('ends once when the refresh is refused', async () => {
    service.good.delete('access-1');
    service.knobs.refreshAnswers = [{ status: 401 }];
    const { api, client } = connect();
    const errors = await Promise.all([1, 2, 3].map((id) => failureOf(api.profile.name.query({ id }))));
    expect(errors.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(signedOut).toBe(1);
    expect(await client.session.isSignedIn()).toBe(false);
    await failureOf(api.profile.name.query({ id: 4 }));
    expect(service.requestsTo('/cabinet/auth/refresh')).toHaveLength(1);
  });

  it('stays when the refresh could not be answered', async () => {
    service.good.delete('access-1');
    service.knobs.refreshAnswers = [{ status: 503 }, 'rotate'];
    const { api, client } = connect();
    expect(await failureOf(api.profile.name.query({ id: 1 }))).toMatchObject({ code: 'refresh_failed', status: 503 });
    expect(await client.session.isSignedIn()).toBe(true);
    expect(signedOut).toBe(0);
    expect((await api.profile.name.query({ id: 1 })).bearer).toBe('access-2');
  });

  it('is sent once more only: a token that is refused again is an error', async () => {
    service.good.delete('access-1');
    const { api } = connect();
    service.good.add = () => service.good;
    expect((await failureOf(api.profile.name.query({ id: 1 }))).status).toBe(401);
    expect(service.requestsTo('profile.name')).toHaveLength(2);
  });

  it('is not touched by the 401 of a sign-in', async () => {
    const { api, client } = connect();
    expect(await failureOf(api.session.login.mutate({ password: 'x' }))).toMatchObject({
      status: 401,
      code: 'invalid_credentials',
    });
    expect(service.requestsTo('/cabinet/auth/refresh')).toHaveLength(0);
    expect(await client.session.isSignedIn()).toBe(true);
  });

  it('does not come back when the user signs out during a refresh', async () => {
    service.good.delete('access-1');
    const { api, client } = connect();
    const gate = Promise.withResolvers<void>();
    service.knobs.refreshGate = gate.promise;
    const call = failureOf(api.profile.name.query({ id: 1 }));
    await expect.poll(() => service.requestsTo('/cabinet/auth/refresh').length).toBe(1);
    await client.session.signOut();
    gate.resolve();
    expect((await call).status).toBe(401);
    expect(await store.get()).toBeNull();
    expect(signedOut).toBe(0);
  });

  it('starts with a sign-in answer', async () => {
    const { api, client } = connect({ tokens: memoryTokenStore() });
    expect((await failureOf(api.profile.name.query({ id: 1 }))).status).toBe(401);
    await client.session.start({ access_token: 'access-1', refresh_token: 'refresh-1' });
    expect((await api.profile.name.query({ id: 1 })).bearer).toBe('access-1');
  });
});
