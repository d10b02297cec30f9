import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPasskey, signWithPasskey } from '../../../packages/client/src/passkeys.ts';

/** `toJSON` of a browser answers objects of its own, whose fields a copy by JSON has too. */
const ANSWER = { id: 'key-1', type: 'public-key', response: { clientDataJSON: 'e30' } };

/** A browser whose user answers with this credential, and what it was asked for. */
function inBrowser(credential: unknown) {
  const asked: unknown[] = [];
  const ask = (kind: string) => async (options: unknown) => {
    asked.push([kind, options]);
    return credential;
  };
  vi.stubGlobal('PublicKeyCredential', {
    parseRequestOptionsFromJSON: ({ challenge }: { challenge: string }) => ({ request: challenge }),
    parseCreationOptionsFromJSON: ({ challenge }: { challenge: string }) => ({ creation: challenge }),
  });
  vi.stubGlobal('navigator', { credentials: { get: ask('get'), create: ask('create') } });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('passkeys', () => {
  it('sign the challenge of the service', async () => {
    const asked = inBrowser({ toJSON: () => ANSWER });
    expect(await signWithPasskey({ challenge: 'c1' })).toEqual(ANSWER);
    expect(asked).toEqual([['get', { publicKey: { request: 'c1' } }]]);
  });

  it('are made for the challenge of the service', async () => {
    const asked = inBrowser({ toJSON: () => ANSWER });
    expect(await createPasskey({ challenge: 'c2' })).toEqual(ANSWER);
    expect(asked).toEqual([['create', { publicKey: { creation: 'c2' } }]]);
  });

  it('say when the user has used none, and where there are none', async () => {
    inBrowser(null);
    await expect(signWithPasskey({ challenge: 'c3' })).rejects.toThrow('No passkey was used');
    vi.unstubAllGlobals();
    await expect(createPasskey({ challenge: 'c3' })).rejects.toThrow('Passkeys are not available here');
  });
});
