/** The mount at which the interface has the words of its clients (spec 09). It exists only while `INTERFACE_WORDS` is set. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { EnvError, type InterfaceWordsEnv } from '../../core/env.ts';
import { isTrustedPeer } from '../../core/http/client-ip.ts';
import { generalPositions } from './identifier-positions.ts';
import { pathReader } from './mounted-paths.ts';
import { type OperationWords, operationWordsOf } from './operation-words.ts';
import { renameDocument } from './rename-document.ts';
import { makeRenamer } from './rename-values.ts';
import { type JsonObject, makeVocabulary, type NamedElsewhere, type Vocabulary } from './vocabulary.ts';

/** Where a request on the mount came in. */
export interface Mount {
  /** Empty on a host of the mount. */
  prefix: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined outside of the mount. */
    mount?: Mount & { words: OperationWords | undefined };
  }
  interface FastifyContextConfig {
    /** Of an operation. */
    words?: OperationWords;
    /** A page that is served on the mount, too. */
    isOnMount?: boolean;
  }
}

export interface InterfaceWords {
  /** The API document in the words of the mount. */
  document(text: string, mount: Mount): string;
  /**
   * Decides whether a request is on the mount.
   * @returns the URL to route it by, in our words; null when it is not on the mount
   */
  enter(request: IncomingMessage): string | null;
  mountOf(request: IncomingMessage): Mount | undefined;
  /** The payload of an event in the client's words. */
  payload(payload: Record<string, unknown>): Record<string, unknown>;
  /** By id of the operation. */
  operation(operationId: string): OperationWords | undefined;
  /** Names of headers that clients of the mount send besides ours. */
  headers: readonly string[];
}

export interface InterfaceWordsOptions {
  env: InterfaceWordsEnv;
  trustedProxies: readonly string[];
  /** The API document. */
  document: JsonObject;
  elsewhere: NamedElsewhere;
}

/** The document differs by its title only, which is at its beginning. */
const TITLE_CHARACTERS = 1_000;

const INIT_DATA_HEADER = 'X-Messenger-Init-Data';

/** @throws EnvError when the words cannot be used: two names would become one, or the prefix is that of a path of ours */
export function makeInterfaceWords({ env, trustedProxies, document, elsewhere }: InterfaceWordsOptions): InterfaceWords {
  const vocabulary = makeVocabulary(env.pairs, document, elsewhere);
  const paths = Object.keys(document.paths as JsonObject);
  refusePrefixOfOurs(env.prefix, paths);
  const readPath = pathReader(paths, vocabulary.forms);
  const operations = operationsOf(document, vocabulary);
  const events = makeRenamer(vocabulary.outward, generalPositions, { isInward: false });
  const mounts = new WeakMap<IncomingMessage, Mount>();
  const [atPrefix, atHost]: Mount[] = [{ prefix: env.prefix ?? '' }, { prefix: '' }];
  const clientHeader = vocabulary.forms.rename(INIT_DATA_HEADER);
  const [clientHeaderKey, ourHeaderKey] = [clientHeader.toLowerCase(), INIT_DATA_HEADER.toLowerCase()];

  /** The last one that was asked for: making it takes too long for each request. */
  let renamed: { key: string; text: string } | undefined;

  function behindPrefix(url: string): string | null {
    const { prefix } = env;
    if (prefix === null || !url.startsWith(prefix)) return null;
    const rest = url.slice(prefix.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    return rest.startsWith('/') ? rest : null;
  }

  function isOnHost({ headers, socket }: IncomingMessage): boolean {
    if (env.hosts.length === 0) return false;
    const forwarded = headers['x-forwarded-host'];
    const isProxied = forwarded !== undefined && isTrustedPeer(socket.remoteAddress, trustedProxies);
    const host = String((isProxied ? forwarded : headers.host) ?? '')
      .split(',', 1)[0]!
      .trim()
      .toLowerCase();
    const [, name = '', port = ''] = /^(.*?)\.?(:\d+)?$/.exec(host) ?? [];
    return env.hosts.includes(name) || (port !== '' && env.hosts.includes(`${name}${port}`));
  }

  return {
    document(text, { prefix }) {
      const key = `${prefix} ${text.slice(0, TITLE_CHARACTERS)}`;
      if (renamed?.key !== key) {
        renamed = { key, text: JSON.stringify(renameDocument(JSON.parse(text), vocabulary, prefix)) };
      }
      return renamed.text;
    },
    headers: clientHeader === INIT_DATA_HEADER ? [] : [clientHeader],
    enter(request) {
      const url = request.url ?? '/';
      const rest = behindPrefix(url);
      if (rest === null && !isOnHost(request)) return null;
      mounts.set(request, rest === null ? atHost! : atPrefix!);
      const initData = request.headers[clientHeaderKey];
      if (initData !== undefined) request.headers[ourHeaderKey] = initData;
      const target = rest ?? url;
      const query = target.indexOf('?');
      return query < 0 ? readPath(target) : `${readPath(target.slice(0, query))}${target.slice(query)}`;
    },
    mountOf: (request) => mounts.get(request),
    payload: (payload) => events.value(payload) as Record<string, unknown>,
    operation: (operationId) => operations.get(operationId),
  };
}

function refusePrefixOfOurs(prefix: string | null, paths: readonly string[]): void {
  const first = new Set(['trpc', 'metrics', 'docs', 'redoc', 'sandbox', 'ws', ...paths.map((path) => path.split('/', 2)[1])]);
  const taken = (prefix ?? '').split('/').find((segment) => segment !== '' && first.has(segment));
  if (taken === undefined) return;
  throw new EnvError([`INTERFACE_WORDS_PREFIX: "${taken}" is the first segment of a path of the interface`]);
}

function operationsOf(document: JsonObject, vocabulary: Vocabulary): Map<string, OperationWords> {
  const { schemas } = document.components as { schemas: JsonObject };
  const wordsOf = operationWordsOf(vocabulary);
  const entries = Object.entries(document.paths as Record<string, Record<string, JsonObject>>).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => [String(operation.operationId), wordsOf({ path, operation, schemas })] as const),
  );
  return new Map(entries);
}

/** Registers what tells the handlers that a request is on the mount, and closes the mount to everything that is no operation. */
export function registerMount(fastify: FastifyInstance, words: InterfaceWords): void {
  fastify.decorateRequest('mount');
  fastify.addHook('onRequest', (request, reply, done) => {
    const mount = words.mountOf(request.raw);
    if (mount === undefined) return done();
    const { config } = request.routeOptions;
    request.mount = { ...mount, words: config.words };
    if (request.is404 || config.words !== undefined || config.isOnMount) return done();
    reply.code(404).send({ detail: 'Not Found' });
  });
}

/** An address of this service as the client of the request reaches it. */
export function mountedUrl({ request }: FastifyReply, url: string): string {
  const prefix = request.mount?.prefix ?? '';
  return url.startsWith('/') && !url.startsWith('//') ? `${prefix}${url}` : url;
}
