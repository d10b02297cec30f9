import { isSecretKey, REDACTED } from '../../core/redaction.ts';

/** Names of secrets in the core's configuration, in addition to those that are secrets everywhere. */
const CORE_SECRETS = /^(?:secretKey|privateKey|preSharedKey|decryption|mldsa65Seed|key|certificate)$/i;
const MAX_DEPTH = 32;

/** A raw inbound with blanked private keys, passwords and certificates. */
export function withoutInboundSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => withoutInboundSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const isSecret = isSecretKey(name) || CORE_SECRETS.test(name);
      const isBlank = item === null || item === '' || item === 'none';
      return [name, isSecret && !isBlank ? REDACTED : withoutInboundSecrets(item, depth + 1)];
    }),
  );
}
