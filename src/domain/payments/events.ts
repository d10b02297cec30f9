declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** A payment was credited to the user's balance (spec 05 section 12.2). `description` is the method's name. */
    'balance.topup': {
      amount_kopeks: number;
      amount_rubles: number;
      new_balance_kopeks: number;
      new_balance_rubles: number;
      description: string;
    };
  }
}

export const BALANCE_TOPUP = 'balance.topup';
