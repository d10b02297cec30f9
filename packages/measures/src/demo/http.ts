/** HTTP requests of the demo and of system tests. */

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads whatever fields the documented answer has
  body: any;
  headers: Headers;
}

export interface Requester {
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  put(path: string, body?: unknown): Promise<Reply>;
  patch(path: string, body?: unknown): Promise<Reply>;
}

/** @param headers sent with every request, e.g. the credential */
export function createRequester(baseUrl: string, headers: Record<string, string> = {}): Requester {
  const send = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Reply> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, ...more, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text, headers: response.headers };
  };
  return {
    get: (path) => send('GET', path),
    post: (path, body, more) => send('POST', path, body, more),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
  };
}

/** Repeats the request until `accept` returns true. @throws Error with the last answer after `limitMs` */
export async function until<T>(
  what: string,
  ask: () => Promise<T>,
  accept: (value: T) => boolean,
  limitMs = 300_000,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const value = await ask();
    if (accept(value)) return value;
    if (performance.now() > end)
      throw new Error(`${what}: not within ${limitMs / 1000} s; last answer ${JSON.stringify(value)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
