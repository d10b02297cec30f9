/** The exports of a CommonJS package that is loaded when it is needed: in the build they are those of `default` alone. */
export function loadedExports<T extends object>(loaded: T): T {
  return (loaded as { default?: T }).default ?? loaded;
}
