import { firstCharacters } from '../../core/characters.ts';
import { storableText } from '../../core/db/storable-text.ts';
import type { HttpClient } from '../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../core/http/outbound.ts';
import type { Release, ReleasePort } from '../../domain/updates/ports.ts';
import { textOrNull } from '../text-or-null.ts';

const READ = 20;
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
const MAX_TAG = 200;
const MAX_BODY = 65_536;
const TIMEOUT_MS = 10_000;

export function createReleasePort(baseUrl: string, deps: HttpClientDeps): ReleasePort {
  const limits = { connectTimeoutMs: TIMEOUT_MS, totalTimeoutMs: TIMEOUT_MS, retries: 0, breakerThreshold: 0 };
  return releasePort(createHttpClient({ system: 'releases', maxResponseBytes: MAX_RESPONSE_BYTES, ...limits }, deps), baseUrl);
}

/** The list of releases as GitHub returns it. */
function releasePort(http: HttpClient, baseUrl: string): ReleasePort {
  return {
    listReleases: async (repo) => {
      const path = repo.split('/').map(encodeURIComponent).join('/');
      const url = `${baseUrl}/repos/${path}/releases?per_page=${READ}`;
      const { status, text } = await http.request({ method: 'GET', url, headers: { accept: 'application/vnd.github+json' } });
      if (status !== 200) throw new Error(`the releases were answered with status ${status}`);
      const list: unknown = JSON.parse(text);
      if (!Array.isArray(list)) throw new Error('the answer is no list of releases');
      return list.flatMap(readRelease).slice(0, READ);
    },
    pageOf: (repo) => `https://github.com/${repo}`,
  };
}

/** Left out: a draft, and what has no tag. */
function readRelease(value: unknown): Release[] {
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Record<string, unknown>;
  const tagName = storableText(textOrNull(fields.tag_name)?.trim() ?? '');
  if (tagName === '' || tagName.length > MAX_TAG || fields.draft === true) return [];
  const release = {
    tagName,
    name: firstCharacters(storableText(textOrNull(fields.name) ?? tagName), MAX_TAG),
    body: firstCharacters(storableText(textOrNull(fields.body) ?? ''), MAX_BODY),
    publishedAt: timestampText(fields.published_at) ?? timestampText(fields.created_at) ?? '',
    prerelease: fields.prerelease === true,
  };
  return [release];
}

function timestampText(value: unknown): string | null {
  const timestamp = typeof value === 'string' ? new Date(value) : null;
  return timestamp === null || Number.isNaN(timestamp.getTime()) ? null : timestamp.toISOString();
}
