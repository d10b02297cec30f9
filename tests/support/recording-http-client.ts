import type { HttpClient, HttpRequest } from '../../src/core/http/http-client.ts';
import { createPlainHttpClient } from './plain-http-client.ts';

/** A plain HTTP client that keeps what it sends. */
export function createRecordingHttpClient(): { http: HttpClient; sent: HttpRequest[] } {
  const sent: HttpRequest[] = [];
  const plain = createPlainHttpClient();
  const http: HttpClient = {
    request(request) {
      sent.push(request);
      return plain.request(request);
    },
  };
  return { http, sent };
}
