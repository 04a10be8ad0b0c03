// Keeps a Node server on the loopback interface: `node --require tests/kit/loopback.cjs SERVER`. Published servers listen
// on all interfaces, and have no flag against it.

const { Server } = require('node:net');

const LOOPBACK = '127.0.0.1';
const listen = Server.prototype.listen;

Server.prototype.listen = function (...args) {
  const [first, second] = args;
  if (first && typeof first === 'object') {
    // A path is a socket in the file system, and a handle was opened by somebody else.
    const options = 'port' in first ? { ...first, host: LOOPBACK } : first;
    return listen.call(this, options, ...args.slice(1));
  }
  if (typeof first === 'number' || /^\d+$/.test(first)) {
    return listen.call(this, first, LOOPBACK, ...args.slice(typeof second === 'string' ? 2 : 1));
  }
  // Without a port, Node picks one.
  return first == null || typeof first === 'function' ? listen.call(this, 0, LOOPBACK, ...args) : listen.apply(this, args);
};
