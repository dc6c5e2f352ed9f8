// A node that does what is due, ten times a second, and tells what it did. A thread: timers of Agenda outlive its jobs by minutes.
import { parentPort, workerData } from 'node:worker_threads';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { MongoClient } from 'mongodb';

const client = await MongoClient.connect(workerData.url);
const agenda = new Agenda({ processEvery: 100, backend: new MongoBackend({ mongo: client.db() }) });
for (const job of workerData.jobs) agenda.define(job, async ({ attrs }) => parentPort.postMessage(attrs.data));
await agenda.start();
parentPort.postMessage('started');
