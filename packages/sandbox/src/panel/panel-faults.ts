/** Faults that tests and the sandbox page can set, to see how the service behaves while the panel fails. */
export interface PanelFaults {
  /** Waits before the call is handled. */
  delayMs?: number;
  /** Only every n-th call fails; without it every call. Counts from the call of `set`. */
  failEvery?: number;
  /**
   * Answers this status without any effect: 401 and 500 as the panel itself, any other as the proxy in front of it, whose answer has no
   * `errorCode`.
   */
  status?: number;
  /** Carries out the call, then cuts the connection without an answer. */
  timeoutAfterEffect?: boolean;
  /** Carries out the call, then answers a text that is not JSON. */
  malformed?: boolean;
  /** Only calls whose path contains this text, or one of these. */
  path?: string | readonly string[];
  /** Only calls of this method. */
  method?: string;
}

export interface FaultSwitch {
  /** Replaces the faults; `{}` removes all. */
  set(faults: PanelFaults): void;
  /** The faults that apply to this call. */
  next(method: string, path: string): PanelFaults;
}

export function createFaultSwitch(): FaultSwitch {
  let current: PanelFaults = {};
  let calls = 0;
  return {
    set(faults) {
      current = faults;
      calls = 0;
    },
    next(method, path) {
      if (current.path !== undefined && ![current.path].flat().some((part) => path.includes(part))) return {};
      if (current.method !== undefined && current.method !== method) return {};
      calls += 1;
      if (current.failEvery !== undefined && calls % current.failEvery !== 0) return { delayMs: current.delayMs };
      return current;
    },
  };
}
