// Registers a patient, books the first slot that is free and moves the appointment to another one.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	accessv1 "cupo/access/v1"
	clinicv1 "cupo/clinic/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	service         = "a455bc8a-233a-5c14-82a9-40055e5894fa"
	appointmentType = "76010db7-bb34-5073-998a-aee7e1f215da"
	requestSource   = "6dd58654-4986-5c1d-9b28-f04a2d444c16"
	attempts        = 4
)

var bogota = time.FixedZone("America/Bogota", -5*3600)

// identified gives each call a token and a key of its own, and makes it again with the same key where the service says
// when, or could not be reached.
func identified(ctx context.Context, method string, req, reply interface{}, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("TOKEN"), "idempotency-key", uuid())
	for attempt := 1; ; attempt++ {
		var header, trailer metadata.MD
		limited, cancel := context.WithTimeout(ctx, 20*time.Second)
		err := invoke(limited, method, req, reply, cc, append(opts, grpc.Header(&header), grpc.Trailer(&trailer))...)
		cancel()
		wait, again := retryAfter(err, metadata.Join(header, trailer))
		if err == nil || !again || attempt == attempts {
			return err
		}
		time.Sleep(wait)
	}
}

func retryAfter(err error, answered metadata.MD) (time.Duration, bool) {
	if said := answered.Get("retry-after"); len(said) > 0 {
		seconds, err := strconv.Atoi(said[0])
		return time.Duration(seconds) * time.Second, err == nil
	}
	return time.Second, status.Code(err) == codes.Unavailable
}

func main() {
	address := strings.TrimPrefix(addressOr("http://127.0.0.1:9090"), "http://")
	conn, err := grpc.Dial(address, grpc.WithInsecure(), grpc.WithUnaryInterceptor(identified))
	must(err)
	defer conn.Close()
	ctx := context.Background()
	bookings := clinicv1.NewBookingServiceClient(conn)

	registered, err := accessv1.NewPatientServiceClient(conn).RegisterPatient(ctx, &accessv1.RegisterPatientRequest{
		DocumentType:     proto.String("CC"),
		DocumentNumber:   proto.String(number()),
		FullName:         proto.String("Ana María Pérez"),
		Phone:            proto.String("+57 300 555 0100"),
		ConsentGrantedAt: timestamppb.Now(),
	})
	must(err)
	patient := registered.GetPatient().GetId()
	fmt.Println("registered", patient)

	booked, err := bookings.BookAppointment(ctx, &clinicv1.BookAppointmentRequest{
		OptionToken: first(ctx, bookings, &clinicv1.SearchAppointmentOptionsRequest{
			PatientId:         proto.String(patient),
			AppointmentTypeId: proto.String(appointmentType),
		}),
		PatientId:         proto.String(patient),
		AppointmentTypeId: proto.String(appointmentType),
		RequestSourceId:   proto.String(requestSource),
	})
	must(err)
	appointment := booked.GetAppointment()
	fmt.Println("booked", appointment.GetAppointmentId(), "at", shown(appointment.GetStartsAt()))

	moved, err := accessv1.NewAppointmentServiceClient(conn).RescheduleAppointment(ctx, &accessv1.RescheduleAppointmentRequest{
		AppointmentId: proto.String(appointment.GetAppointmentId()),
		OptionToken: first(ctx, bookings, &clinicv1.SearchAppointmentOptionsRequest{
			AppointmentId: proto.String(appointment.GetAppointmentId()),
		}),
		ExpectedVersion: proto.Int32(appointment.GetVersion()),
	})
	must(err)
	fmt.Printf("moved to %s, version %d\n", shown(moved.GetAppointment().GetStartsAt()), moved.GetAppointment().GetVersion())
}

// first gives the token of the first slot of the next month that is free.
func first(ctx context.Context, bookings clinicv1.BookingServiceClient, wish *clinicv1.SearchAppointmentOptionsRequest) *string {
	wish.ServiceId, wish.DateFrom, wish.DateTo = proto.String(service), day(1), day(30)
	found, err := bookings.SearchAppointmentOptions(ctx, wish)
	must(err)
	if len(found.GetOptions()) == 0 {
		log.Fatal("nothing is free")
	}
	return proto.String(found.GetOptions()[0].GetOptionToken())
}

func day(days int) *string {
	return proto.String(time.Now().In(bogota).AddDate(0, 0, days).Format("2006-01-02"))
}

func shown(at *timestamppb.Timestamp) string {
	return at.AsTime().Format(time.RFC3339)
}

func number() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_900_000_000))
	must(err)
	return strconv.FormatInt(n.Int64()+10_000_000, 10)
}

func uuid() string {
	b := make([]byte, 16)
	_, err := rand.Read(b)
	must(err)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func addressOr(fallback string) string {
	if address := os.Getenv("CUPO_INTERNAL"); address != "" {
		return address
	}
	return fallback
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
