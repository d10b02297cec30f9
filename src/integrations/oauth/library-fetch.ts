import type { HttpClient } from '../../core/http/http-client.ts';

/** Options of one request of the OAuth library. */
interface LibraryRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | string | Uint8Array | ArrayBuffer | ReadableStream | null | undefined;
  signal?: AbortSignal | undefined;
}

export interface LibraryFetchOptions {
  /** Sends a form as a JSON object of the same fields. */
  asJson?: boolean;
  /** Fields of a JSON answer that the library must not check. */
  withoutFields?: readonly string[];
}

/** The library's fetch over our client, so that its time-outs, circuit breaker, metrics and size limit apply to sign-in calls too. */
export function libraryFetch(http: HttpClient, options: LibraryFetchOptions = {}) {
  return async (url: string, request: LibraryRequest): Promise<Response> => {
    const { method, body } = request;
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`unexpected method ${method}`);
    if (body !== undefined && body !== null && !(body instanceof URLSearchParams)) throw new TypeError('unexpected body');
    const headers = options.asJson ? { ...request.headers, 'content-type': 'application/json' } : request.headers;
    const answer = await http.request({
      method,
      url,
      headers,
      ...(body ? { body: options.asJson ? JSON.stringify(Object.fromEntries(body)) : body.toString() } : {}),
      ...(request.signal ? { signal: request.signal } : {}),
      // A code is valid once: a retry would be refused and would hide the first failure.
      idempotent: method === 'GET',
    });
    return new Response(isWithoutBody(answer.status) ? null : without(answer.text, options.withoutFields ?? []), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/** Statuses for which `Response` refuses a body. */
function isWithoutBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function without(text: string, fields: readonly string[]): string {
  if (fields.length === 0) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return text;
    return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name))));
  } catch {
    return text;
  }
}
