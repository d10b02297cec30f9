import type { DeclaredRefusal, Refusal } from '../core/errors.ts';
/** Data of one operation besides its schemas; source of the REST routes, the contract test of the guards and the OpenAPI document. */

export type OperationArea = 'web' | 'cabinet' | 'admin';

/** Who may call: anyone, an API token, a signed-in user, an administrator with permissions. Equals the contract's `x-auth`. */
export type OperationAuth = 'NONE' | 'KEY' | 'JWT' | 'JWT_ADMIN';

/** How the one input object of a procedure is spread over an HTTP request, where the default does not fit. */
export interface WireHints {
  /**
   * Default: path parameters from the path; for GET and DELETE every other key from the query, else from the JSON body.
   * `query` names keys of a POST, PUT or PATCH that come from the query; `body` names keys of a DELETE that come from the body.
   */
  query?: readonly string[];
  body?: readonly string[];
  /** The whole JSON body is the value of this one key (bodies that are arrays, free maps or nullable). */
  wholeBodyKey?: string;
  /** Path parameter name in the URL template -> input key, where a body field has the same name. */
  pathKeys?: Readonly<Record<string, string>>;
  /** Header name (lower case) -> input key. */
  headers?: Readonly<Record<string, string>>;
  /** Only the path as it is documented is served: with a slash at its end it is 404. For what destroys something by its name. */
  isPathExact?: boolean;
  /** The JSON body may be absent although its fields are separate keys of the input; each of them must then be optional. */
  bodyOptional?: boolean;
  /** Fields of the JSON body are taken in camel case and in snake case alike; the documented spelling wins where both are sent. */
  anySpelling?: boolean;
  /** The body is `multipart/form-data`: one file (an `UploadedFile`) under `fileKey`, the other body keys are form fields. */
  multipart?: {
    fileKey: string;
    /** Largest file in bytes; a larger one is 413, or refused as `tooLarge` says. */
    maxBytes: number;
    /** Of a larger file the operation gets the first `maxBytes` bytes with `isTruncated`, because it has a refusal of its own. */
    givesBeginning?: boolean;
    tooLarge?: Refusal;
    /** The operation reads the file while it arrives (a `StreamedFile`) and limits it itself; fields behind the file are not read. */
    streams?: boolean;
  };
  /** `json` (default), or the handler answers a `FileReply` / `RedirectReply` that REST turns into a download or a 302. */
  reply?: 'json' | 'file' | 'redirect';
  /** Media type of a `file` reply in the document; `application/octet-stream` unless given. Text when it begins with `text/`. */
  mediaType?: string;
  /** A JSON answer that every page reads: it gets an `ETag`, and a request that has the current one is answered with 304. */
  hasEtag?: boolean;
}

export interface OperationMeta {
  openapi?: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Contract path with `{name}` parameters. */
    path: `/${string}`;
    /** Exactly one tag: the contract's group name. */
    tags: [string];
    summary: string;
  };
  /** What the operation does, what it changes outside, idempotency; in the document. */
  description?: string;
  /** What the operation refuses: factories of the domain. A test provokes each of them; no other may be thrown (scripts/refusals.ts). */
  refuses?: readonly DeclaredRefusal[];
  /** What its base procedure refuses before it; declared with the guard. */
  guardRefuses?: readonly DeclaredRefusal[];
  /** Of a guard that refuses more than the others of its credential: its name in the document. */
  guardName?: 'FRESH' | 'SIGN_IN';
  area?: OperationArea;
  auth?: OperationAuth;
  permissions?: readonly string[];
  wire?: WireHints;
  /** The endpoint honours an `Idempotency-Key` header (spec 00, Consistency): shown in the document. */
  idempotent?: boolean;
  /** A query that stores something (the state of a sign-in that begins): it is not run again when its database session was cut. */
  writes?: boolean;
  /** False where `isReadFromReplicas` would say that it is read from standbys and the primary is meant. */
  replicas?: false;
  /** `initData`: the caller is authenticated by the messenger's signed data in the body, field `initData` or `init_data`. */
  credential?: 'initData';
  /** Input keys whose values the audit log must not contain; it records that they were sent. */
  audit?: { hide: readonly string[] };
  /**
   * Cannot be undone, or gives a way to such things: where `FRESH_SIGN_IN_MINUTES` is set, an administrator must have proved recently who he
   * is. A customer's operation is refused to customers only who have a second factor and have not shown it recently.
   */
  needsFreshSignIn?: boolean;
  /** Of an API token's operation: the group of its scope where that is not its tag. */
  scopeGroup?: string;
  /** Of an API token's operation: the `action` under which the audit log records each call. */
  recordedAs?: string;
  /** Of a mutation that the audit log does not record as a change: why. Set by `unaudited`. */
  unaudited?: string;
}

/** The scope that an API token needs: `GROUP:read` for what only reads, else `GROUP:write`. */
export function tokenScopeOf({ scopeGroup, openapi }: OperationMeta, type: 'query' | 'mutation' | 'subscription'): string {
  return `${scopeGroup ?? openapi!.tags[0]}:${type === 'query' ? 'read' : 'write'}`;
}

/**
 * Lists, statistics and exports of the Web API and of administrators, which are the dear reads (spec 08 S10): what only reads and is about
 * no single thing. For one row, asking the primary how far its log is would cost as much as reading the row there.
 */
export function isReadFromReplicas(meta: OperationMeta | undefined, type: 'query' | 'mutation' | 'subscription'): boolean {
  if (type !== 'query' || meta?.openapi === undefined || meta.writes || meta.replicas === false) return false;
  const isOfStaff = meta.auth === 'KEY' || meta.auth === 'JWT_ADMIN';
  return isOfStaff && !meta.openapi.path.endsWith('}');
}
