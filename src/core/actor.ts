/** Who acts. Only the gates (`domain/access`, `domain/identity`) create one; use cases trust it. */
export type Actor =
  | { readonly kind: 'system'; readonly name: string }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'token'; readonly tokenId: number; readonly name: string; readonly limits?: TokenLimits }
  | { readonly kind: 'user'; readonly userId: number; readonly session?: UserSession | null }
  | { readonly kind: 'admin'; readonly userId: number; readonly level: number; readonly isConfigAdmin: boolean };

/** The session of an access token; absent for a user of the mini-app. */
export interface UserSession {
  readonly id: string;
  /** When the user last proved in this session who he is; null when that is not known. */
  readonly provedAt: Date | null;
  /** Whether a second factor was shown in this session. */
  readonly hasSecondFactor: boolean;
}

/** What an API token may do; absent for one that may do everything for ever. */
export interface TokenLimits {
  /** `GROUP:read` and `GROUP:write`; null = every operation. */
  readonly scopes: readonly string[] | null;
  /** IP addresses and CIDR ranges; null = from everywhere. */
  readonly allowedAddresses: readonly string[] | null;
  readonly expiresAt: Date | null;
}

export type TokenActor = Extract<Actor, { kind: 'token' }>;
export type UserActor = Extract<Actor, { kind: 'user' }>;
export type AdminActor = Extract<Actor, { kind: 'admin' }>;

/** Stable text of an actor for idempotency keys and logs: `token:3`, `user:17`, `admin:17`. */
export function actorKey(actor: Actor): string {
  switch (actor.kind) {
    case 'token':
      return `token:${actor.tokenId}`;
    case 'user':
      return `user:${actor.userId}`;
    case 'admin':
      return `admin:${actor.userId}`;
    case 'system':
      return `system:${actor.name}`;
    case 'anonymous':
      return 'anonymous';
  }
}

/** The name of an actor in records for people: that of a system actor alone, else as `actorKey`. */
export function actorName(actor: Actor): string {
  return actor.kind === 'system' ? actor.name : actorKey(actor);
}
