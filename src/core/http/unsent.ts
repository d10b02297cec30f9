import type { OutboundError } from './http-client.ts';

/** Failures before the first byte of the request: no address, no connection, no tunnel, no accepted certificate. */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  ...['EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'ENOTFOUND', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ...['ECONNECTTIMEOUT', 'EPROXY', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...[
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
]);

/**
 * Whether a call that got no answer certainly did not reach the system. After anything else, a reset or a time-out, it may have been
 * carried out.
 */
export function isCertainlyUnsent(error: OutboundError): boolean {
  if (error.failure === 'circuit_open' || error.failure === 'blocked') return true;
  const code = error.cause instanceof Error && 'code' in error.cause ? error.cause.code : undefined;
  return typeof code === 'string' && UNSENT_CODES.has(code);
}
