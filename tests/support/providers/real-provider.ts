import { HttpResponse, http, passthrough } from 'msw';
import { setupServer } from 'msw/node';
import { putSettings } from '../../../src/domain/settings/change-setting.ts';
import type { ProviderCase } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const SYSTEM = { kind: 'system' };

/** Enters credentials and switch of a provider, as an administrator does while the service runs. */
export async function switchOn({ app, secret }: ProviderFixture, { method, credentials }: ProviderCase): Promise<void> {
  await putSettings(app, SYSTEM, [...Object.entries(credentials(secret)), [switchOf(method), true]]);
}

export async function switchOff({ app }: ProviderFixture, { method }: ProviderCase): Promise<void> {
  await putSettings(app, SYSTEM, [[switchOf(method), false]]);
}

const switchOf = (method: string) => `${method.toUpperCase()}_ENABLED`;

/** Lets the fake answer what the service sends to the address of the real provider. @returns what ends this */
export function answerRealAddress({ method, realUrl }: ProviderCase, fakeUrl: string): () => void {
  if (realUrl === null) return () => undefined;
  const outside = setupServer(
    http.all(`${realUrl}/*`, async ({ request }) => {
      const rest = request.url.slice(realUrl.length);
      const body = ['GET', 'HEAD'].includes(request.method) ? null : await request.arrayBuffer();
      const { status, headers, ...reply } = await fetch(`${fakeUrl}/${method}${rest}`, {
        method: request.method,
        headers: request.headers,
        body,
      }).then(async (answer) => ({ status: answer.status, headers: answer.headers, text: await answer.text() }));
      return new HttpResponse(reply.text, { status, headers: { 'content-type': headers.get('content-type') ?? '' } });
    }),
    http.all(`${fakeUrl}/*`, () => passthrough()),
  );
  outside.listen({ onUnhandledRequest: 'bypass' });
  return () => outside.close();
}
