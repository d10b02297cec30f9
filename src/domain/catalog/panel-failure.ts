/**
 * Whether this is the panel port's failure, whose message is safe to show. By its name, since the port belongs to a later module.
 */
export function isPanelFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'PanelError';
}
