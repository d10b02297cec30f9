import type { App } from '../../../core/app.ts';

export interface EmailAuth {
  /** Accounts with e-mail and password can be made and used. */
  readonly enabled: boolean;
  /** New addresses must be confirmed before the first sign-in. */
  readonly verificationEnabled: boolean;
}

/** What the sign-in page of the cabinet offers; the values that sign-in itself uses, from memory. */
export function readEmailAuth({ settings }: App): EmailAuth {
  return {
    enabled: settings.get('CABINET_EMAIL_AUTH_ENABLED'),
    verificationEnabled: settings.get('CABINET_EMAIL_VERIFICATION_ENABLED'),
  };
}

export interface MessengerWidget {
  /** Without `@`; empty = not known. */
  readonly botUsername: string;
  readonly size: 'large' | 'medium' | 'small';
  /** Corner radius in pixels, 0 to 20. */
  readonly radius: number;
  readonly userpic: boolean;
  readonly requestAccess: boolean;
  readonly oidcEnabled: boolean;
  /** Empty while sign-in by OpenID Connect is off. */
  readonly oidcClientId: string;
}

/** The sign-in button of the messenger. It is changed through the settings list only (spec 05 section 14). */
export function readMessengerWidget({ settings, ports }: App): MessengerWidget {
  // Off without a client id: the messenger would refuse the sign-in.
  const oidcEnabled = ports.messengerIdentity.isOidcEnabled();
  return {
    botUsername: ports.messengerIdentity.botUsername() ?? '',
    size: settings.get('MESSENGER_WIDGET_SIZE'),
    radius: settings.get('MESSENGER_WIDGET_RADIUS'),
    userpic: settings.get('MESSENGER_WIDGET_USERPIC'),
    requestAccess: settings.get('MESSENGER_WIDGET_REQUEST_ACCESS'),
    oidcEnabled,
    oidcClientId: oidcEnabled ? settings.get('MESSENGER_OIDC_CLIENT_ID').trim() : '',
  };
}
