// Package routes are the rows of the table that need the rooms behind the door:
// discovery, quotes, orders and what an integrator sees of itself.
//
// A row says what it takes, what it answers and which refusals it knows; its work is
// a few lines that call the desk or the report. It never reads a header or a query by
// hand and never decides who may do what.
package routes
