import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProofPrompt } from '../../../packages/client/src/api-caller.ts';
import { createClient } from '../../../packages/client/src/create-client.ts';
import { memoryTokenStore, type TokenStore } from '../../../packages/client/src/token-store.ts';
import { startTrialService, TRIAL_FACTS, type TrialApi, type TrialService } from './trial-service.ts';

let service: TrialService;
let store: TokenStore;

beforeEach(async () => {
  service = await startTrialService();
  store = memoryTokenStore({ accessToken: 'access-1', refreshToken: 'refresh-1' });
});
afterEach(() => service.stop());

/** A client whose user answers the questions with these passwords, then gives up. */
function connect(...passwords: string[]) {
  const questions: Parameters<ProofPrompt>[0][] = [];
  const onFreshSignInRequired: ProofPrompt = async (question) => {
    questions.push(question);
    const password = passwords.shift();
    return password === undefined ? null : { password };
  };
  const client = createClient({ baseUrl: service.baseUrl, tokens: store, onFreshSignInRequired }, TRIAL_FACTS);
  return { questions, api: client.api as unknown as TrialApi };
}

describe('an operation that needs a recent proof', () => {
  it('is sent once more with the token of the proof, in the same session', async () => {
    const { api, questions } = connect('secret');
    expect(await api.profile.remove.mutate({ id: 7 })).toEqual({ id: 7 });
    expect(questions).toEqual([{ methods: ['password'], refused: null }]);
    expect(await store.get()).toEqual({ accessToken: 'access-fresh', refreshToken: 'refresh-1' });
  });

  it('asks once for several that are refused together', async () => {
    const { api, questions } = connect('secret');
    expect(await Promise.all([1, 2, 3].map((id) => api.profile.remove.mutate({ id })))).toHaveLength(3);
    expect(questions).toHaveLength(1);
  });

  it('asks again after a wrong password, with the reason, and fails when the user gives up', async () => {
    const { api, questions } = connect('wrong');
    await expect(api.profile.remove.mutate({ id: 7 })).rejects.toMatchObject({ code: 'fresh_sign_in_required', status: 403 });
    expect(questions.map(({ refused }) => refused?.code ?? null)).toEqual([null, 'proof_invalid']);
  });

  it('fails where the client has nobody to ask', async () => {
    const client = createClient({ baseUrl: service.baseUrl, tokens: store }, TRIAL_FACTS);
    const refused = (client.api as unknown as TrialApi).profile.remove.mutate({ id: 7 });
    await expect(refused).rejects.toMatchObject({ code: 'fresh_sign_in_required' });
  });

  it('does not mix the token of a proof with another session that began meanwhile', async () => {
    const other = { accessToken: `x.${btoa('{"sid":"other"}')}.x`, refreshToken: 'refresh-other' };
    const client = createClient(
      {
        baseUrl: service.baseUrl,
        tokens: store,
        onFreshSignInRequired: async () => {
          // The question is open while another tab signs in: the proof is sent with the token of that one.
          await store.set(other);
          service.good.add(other.accessToken);
          return { password: 'secret' };
        },
      },
      TRIAL_FACTS,
    );
    const refused = (client.api as unknown as TrialApi).profile.remove.mutate({ id: 7 });
    await expect(refused).rejects.toMatchObject({ code: 'fresh_sign_in_required' });
    expect(await store.get()).toEqual(other);
  });
});
