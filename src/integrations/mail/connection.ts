/** Real mail server (spec 05 section 11.1). Configured = a host and a from address. */
export interface SmtpConnection {
  kind: 'smtp';
  host: string;
  port: number;
  user: string | null;
  password: string | null;
  fromEmail: string;
  fromName: string;
  /** STARTTLS is demanded, not merely tried; port 465 is TLS from the first byte whatever this says. */
  useTls: boolean;
}

/** The sandbox's mail box, over HTTP on loopback. */
export interface SandboxMailConnection {
  kind: 'sandbox';
  baseUrl: string;
  fromEmail: string;
  fromName: string;
}

export type MailConnection = SmtpConnection | SandboxMailConnection;
