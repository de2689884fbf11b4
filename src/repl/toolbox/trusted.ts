import type { ServerConfig } from '../config/server-config.ts';

/** Whether what a server says of its tools is believed. */
export const isTrusted = ({ trust, source }: ServerConfig): boolean => trust || source === 'own';
