/** `user_id` is `userId`, `last_24h` is `last24h`; a name without underscores stays. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `userId` is `user_id`: the reverse of `camelCase` for names without digits. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
