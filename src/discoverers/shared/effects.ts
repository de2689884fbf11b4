// Effects in the combinations that many actions have.
export const reads = ['read'] as const;
export const asks = ['read', 'network'] as const;
export const writes = ['write'] as const;
export const runs = ['execute'] as const;
export const reaches = ['execute', 'network'] as const;
export const changes = ['write', 'execute'] as const;
export const makes = ['write', 'execute', 'network'] as const;
export const publishes = ['network', 'publish'] as const;
export const destroys = ['network', 'publish', 'destroy'] as const;
